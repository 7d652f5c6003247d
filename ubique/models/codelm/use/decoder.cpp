// SPDX-License-Identifier: Apache-2.0
// Passes over a prompt of one slot and over new tokens of all, and caches that grow.
#include "ubique/models/codelm/use/decoder.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/device/runtime.h"

namespace ubique::codelm {
namespace {

constexpr std::int64_t kSmallestCache = 256;

at::TensorOptions numbers() { return at::TensorOptions(at::kLong); }

/// The rows of a step of `width` tokens a slot that were asked for: others were repeated, or belong
/// to idle slots.
at::Tensor rows_of(std::span<const nn::Extension> extensions, std::int64_t width) {
  std::vector<std::int64_t> rows;
  for (const auto& [slot, added] : extensions) {
    for (std::size_t i = 0; i < added.size(); ++i) {
      rows.push_back(slot * width + static_cast<std::int64_t>(i));
    }
  }
  return at::tensor(rows, numbers());
}

}  // namespace

CodelmDecoder::CodelmDecoder(const Codelm& network, const PassOptions& pass,
                             const DecoderOptions& options)
    : Decoder(options.slots),
      network_(network),
      pass_(pass),
      options_(options),
      limit_(network.config().context) {
  check(options_.slots >= 1, ErrorKind::Usage,
        "[codelm.decode] --slots is out of range; got {}, expected 1 or more.", options_.slots);
  if (options_.most_tokens > 0) limit_ = std::min(limit_, options_.most_tokens);
  if (!options_.own_steps) return;
  if (auto known = network.decoding_network()) {
    device_ = nn::DeviceStep::make(std::move(*known), slots());
  }
  if (device_) readback_ = std::make_unique<device::Readback>();
  if (options_.record || device_) return;
  if (auto host = network.host_network()) host_ = std::make_unique<nn::HostStep>(std::move(*host));
}

CodelmDecoder::~CodelmDecoder() { forget_ahead(); }

/// Nothing of a step that runs ahead may be freed before it has ended.
void CodelmDecoder::forget_ahead() {
  ahead_ = at::Tensor();
  single_before_ = false;
  if (went_ahead_) device::synchronize(network_.head().device());
  went_ahead_ = false;
}

/// Makes room for that many positions of every slot, keeping what the caches hold. Recorded passes
/// refer to the old caches and are dropped.
void CodelmDecoder::reserve(std::int64_t positions) {
  if (capacity() >= positions) return;
  const auto& config = network_.config();
  const auto enough = std::min(limit_, std::max(kSmallestCache, 2 * positions));
  const auto held = capacity();
  std::vector<nn::KvCache> larger;
  for (std::int64_t i = 0; i < config.layers; ++i) {
    larger.push_back(nn::KvCache::make(slots(), config.kv_heads, enough, config.head_size,
                                       network_.head().options()));
    if (held == 0) continue;
    const auto& old = caches_[static_cast<std::size_t>(i)];
    larger.back().store(old.keys, old.values, 0);
  }
  forget_ahead();
  steps_.clear();
  caches_ = std::move(larger);
  if (device_) device_->prepare(capacity());
}

nn::Predictions CodelmDecoder::append(const nn::Extension& extension, std::int64_t predicted,
                                      nn::Wanted wanted) {
  const c10::InferenceMode inference;
  ahead_ = at::Tensor();  // the text is another one, perhaps of the same length
  const auto first = static_cast<std::int64_t>(tokens(extension.slot).size());
  const auto count = static_cast<std::int64_t>(extension.tokens.size());
  if (host_ && extension.tokens.size() <= nn::HostStep::kMostTokens) {
    return append_on_host({&extension, 1}, static_cast<std::size_t>(count - predicted), wanted);
  }
  reserve(first + count);
  const auto device = network_.head().device();
  const auto ids = at::tensor(at::ArrayRef<int>(extension.tokens.data(), extension.tokens.size()),
                              numbers())
                       .to(device)
                       .unsqueeze(0);  // (1, n)
  const nn::NewPositions places{
      .positions = at::arange(first, first + count, numbers().device(device)).unsqueeze(0),
      .extent = first + count,
      .at_end = true};
  std::vector<nn::KvCache> rows;
  if (slots() > 1) {
    for (const auto& cache : caches_) rows.push_back(cache.row(extension.slot));
  }
  const auto hidden = network_.forward_cached(ids, places, slots() > 1 ? rows : caches_, pass_);
  const auto last = hidden[0].slice(0, count - predicted);  // (predicted, H)
  return nn::read_predictions(network_.logits(last), wanted);
}

nn::Predictions CodelmDecoder::append_on_host(std::span<const nn::Extension> extensions,
                                              std::size_t first_predicted, nn::Wanted wanted) {
  std::vector<nn::HostToken> added;
  std::int64_t longest = 0;
  for (const auto& [slot, ids] : extensions) {
    auto position = static_cast<std::int64_t>(tokens(slot).size());
    for (const auto id : ids) added.push_back({id, slot, position++});
    longest = std::max(longest, position);
  }
  reserve(longest);
  return host_->run(added, first_predicted, wanted, caches_);
}

/// Ids and positions of all slots, (2, B, width) on the host. A slot with fewer tokens repeats its
/// last one: what is computed for it again is stored where it already is.
at::Tensor CodelmDecoder::inputs_of(std::span<const nn::Extension> extensions,
                                    std::int64_t width) const {
  auto inputs = at::zeros({2, slots(), width}, numbers());
  auto* ids = inputs.mutable_data_ptr<std::int64_t>();
  const auto fill = [&](std::int64_t slot, std::int64_t first,
                        std::span<const std::int32_t> added) {
    const auto last = static_cast<std::int64_t>(added.size()) - 1;
    for (std::int64_t i = 0; i < width; ++i) {
      const auto token = std::min(i, last);
      ids[slot * width + i] = added[static_cast<std::size_t>(token)];
      ids[(slots() + slot) * width + i] = first + token;
    }
  };
  for (std::int64_t slot = 0; slot < slots(); ++slot) {
    const std::span<const std::int32_t> text = tokens(slot);
    if (!text.empty()) fill(slot, static_cast<std::int64_t>(text.size()) - 1, text.last(1));
  }
  for (const auto& [slot, added] : extensions) {
    fill(slot, static_cast<std::int64_t>(tokens(slot).size()), added);
  }
  return inputs;
}

void CodelmDecoder::compute(Step& step) {
  if (device_ && step.inputs.size(2) == 1) {
    return device_->run(step.inputs.squeeze(2), caches_, step.results);
  }
  const nn::NewPositions places{.positions = step.inputs[1], .extent = step.extent};
  const auto hidden = network_.forward_cached(step.inputs[0], places, caches_, pass_);
  const auto logits = network_.logits(hidden.flatten(0, 1));  // (B·n, V)
  step.results.logits.copy_(logits);
  step.results.likeliest.copy_(nn::likeliest_of(logits));
}

void CodelmDecoder::launch(Step& step) {
  if (options_.record && !std::exchange(step.tried_to_record, true)) {
    // Rehearsals compute these very inputs: they leave nothing else behind.
    step.recording = device::record(step.inputs.device(), "a decoding step of codelm",
                                    [this, &step] { compute(step); });
  }
  step.recording ? step.recording->replay() : compute(step);
}

CodelmDecoder::Step& CodelmDecoder::prepared_step(std::int64_t width) {
  const auto known = steps_.find(width);
  if (known != steps_.end()) return known->second;
  const auto device = network_.head().device();
  const auto f32 = at::TensorOptions(at::kFloat).device(device);
  const auto rows = slots() * width;
  Step step;
  step.inputs = at::zeros({2, slots(), width}, numbers().device(device));
  step.results = {.logits = at::empty({rows, vocabulary()}, f32),
                  .likeliest = at::empty({rows, 2}, f32),
                  .next = at::zeros({2, rows}, numbers().device(device))};
  return steps_.emplace(width, std::move(step)).first->second;
}

nn::Predictions CodelmDecoder::append_each(std::span<const nn::Extension> extensions,
                                           nn::Wanted wanted) {
  if (!options_.record && !device_ && extensions.size() == 1) {
    return Decoder::append_each(extensions, wanted);
  }
  const c10::InferenceMode inference;
  std::int64_t width = 1, longest = 1;
  std::size_t total = 0;
  for (const auto& [slot, added] : extensions) {
    const auto count = static_cast<std::int64_t>(added.size());
    total += added.size();
    width = std::max(width, count);
    longest = std::max(longest, static_cast<std::int64_t>(tokens(slot).size()) + count);
  }
  for (std::int64_t slot = 0; slot < slots(); ++slot) {
    longest = std::max(longest, static_cast<std::int64_t>(tokens(slot).size()));
  }
  if (host_ && total <= nn::HostStep::kMostTokens) return append_on_host(extensions, 0, wanted);
  reserve(longest);
  if (options_.record) {
    width = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(width)));
  }
  auto& step = prepared_step(width);
  step.extent = options_.record ? capacity() : longest;
  const auto inputs = inputs_of(extensions, width);
  if (!is_ahead(inputs, extensions)) {
    step.inputs.copy_(inputs);
    launch(step);
  }
  ahead_ = at::Tensor();
  const bool goes_on = std::exchange(single_before_, width == 1) && width == 1;
  if (device_ && goes_on && wanted == nn::Wanted::Likeliest) {
    return read_and_go_on(step, inputs, extensions);
  }
  return read_step(step, extensions, width, wanted);
}

/// Has a step with these inputs been started already? Idle slots do not matter.
bool CodelmDecoder::is_ahead(const at::Tensor& inputs,
                             std::span<const nn::Extension> extensions) const {
  if (!ahead_.defined() || inputs.size(2) != 1) return false;
  const auto *wanted = inputs.const_data_ptr<std::int64_t>(),
             *expected = ahead_.const_data_ptr<std::int64_t>();
  return std::ranges::all_of(extensions, [&](const nn::Extension& each) {
    const auto id = each.slot, position = slots() + each.slot;
    return wanted[id] == expected[id] && wanted[position] == expected[position];
  });
}

/// Starts the step after this one, which is the next if the likeliest tokens are chosen, and reads
/// this one meanwhile: the device never waits for the host.
nn::Predictions CodelmDecoder::read_and_go_on(Step& step, const at::Tensor& inputs,
                                              std::span<const nn::Extension> extensions) {
  readback_->begin(step.results.likeliest);
  auto expected = (inputs + 1).squeeze(2);  // positions; ids follow
  auto* values = expected.mutable_data_ptr<std::int64_t>();
  const bool room = std::ranges::all_of(extensions, [&](const nn::Extension& each) {
    return values[slots() + each.slot] < std::min(limit_, capacity());
  });
  if (room) {
    step.inputs.copy_(step.results.next.unsqueeze(2));
    launch(step);
    went_ahead_ = true;
  }
  const auto& host = readback_->wait();
  auto found = nn::read_likeliest(host.index_select(0, rows_of(extensions, 1)));
  if (room) {
    for (std::size_t i = 0; i < extensions.size(); ++i) {
      values[extensions[i].slot] = found.likeliest[i];
    }
    ahead_ = expected;
  }
  return found;
}

nn::Predictions CodelmDecoder::read_step(const Step& step,
                                         std::span<const nn::Extension> extensions,
                                         std::int64_t width, nn::Wanted wanted) const {
  const auto rows = rows_of(extensions, width);
  if (wanted == nn::Wanted::Likeliest) {
    return nn::read_likeliest(step.results.likeliest.cpu().index_select(0, rows));
  }
  const auto& logits = step.results.logits;
  if (wanted == nn::Wanted::Ranked) {
    const bool all = at::equal(rows, at::arange(logits.size(0), numbers()));
    return nn::read_predictions(all ? logits : logits.index_select(0, rows.to(logits.device())),
                                wanted);
  }
  return nn::read_predictions(logits.cpu().index_select(0, rows), wanted);
}

}  // namespace ubique::codelm
