// SPDX-License-Identifier: Apache-2.0
// Passes over a prompt of one slot and over new tokens of all, and caches that grow.
#include "ubique/models/codelm/use/decoder.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <bit>

#include "ubique/base/error.h"

namespace ubique::codelm {
namespace {

constexpr std::int64_t kSmallestCache = 256;

at::TensorOptions numbers() { return at::TensorOptions(at::kLong); }

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
  if (options_.record || !options_.on_host) return;
  if (auto host = network.host_network()) host_ = std::make_unique<nn::HostStep>(std::move(*host));
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
  steps_.clear();
  caches_ = std::move(larger);
}

nn::Predictions CodelmDecoder::append(const nn::Extension& extension, std::int64_t predicted,
                                      nn::Wanted wanted) {
  const c10::InferenceMode inference;
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
  const nn::NewPositions places{.positions = step.inputs[1], .extent = step.extent};
  const auto hidden = network_.forward_cached(step.inputs[0], places, caches_, pass_);
  const auto logits = network_.logits(hidden.flatten(0, 1));  // (B·n, V)
  step.logits.copy_(logits);
  step.likeliest.copy_(nn::likeliest_of(logits));
}

CodelmDecoder::Step& CodelmDecoder::prepared_step(std::int64_t width) {
  const auto known = steps_.find(width);
  if (known != steps_.end()) return known->second;
  const auto device = network_.head().device();
  const auto f32 = at::TensorOptions(at::kFloat).device(device);
  const auto rows = slots() * width;
  Step step;
  step.inputs = at::zeros({2, slots(), width}, numbers().device(device));
  step.logits = at::empty({rows, vocabulary()}, f32);
  step.likeliest = at::empty({rows, 2}, f32);
  return steps_.emplace(width, std::move(step)).first->second;
}

nn::Predictions CodelmDecoder::append_each(std::span<const nn::Extension> extensions,
                                           nn::Wanted wanted) {
  if (!options_.record && extensions.size() == 1) return Decoder::append_each(extensions, wanted);
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
  step.inputs.copy_(inputs_of(extensions, width));
  step.extent = options_.record ? capacity() : longest;
  if (options_.record && !step.recording) {
    // Rehearsals compute these very inputs: they leave nothing else behind.
    step.recording = device::record(step.inputs.device(), "a decoding step of codelm",
                                    [this, &step] { compute(step); });
  }
  step.recording ? step.recording->replay() : compute(step);
  return read_step(step, extensions, width, wanted);
}

/// The rows of tokens that were asked for: others were repeated, or belong to idle slots.
nn::Predictions CodelmDecoder::read_step(const Step& step,
                                         std::span<const nn::Extension> extensions,
                                         std::int64_t width, nn::Wanted wanted) const {
  std::vector<std::int64_t> rows;
  for (const auto& [slot, added] : extensions) {
    for (std::size_t i = 0; i < added.size(); ++i) {
      rows.push_back(slot * width + static_cast<std::int64_t>(i));
    }
  }
  const auto index = at::tensor(rows, numbers());
  if (wanted == nn::Wanted::Likeliest) {
    return nn::read_likeliest(step.likeliest.cpu().index_select(0, index));
  }
  return nn::read_predictions(step.logits.cpu().index_select(0, index), wanted);
}

}  // namespace ubique::codelm
