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
constexpr int kMostPromptRecordings = 16;  // each keeps memory of its own

at::TensorOptions numbers() { return at::TensorOptions(at::kLong); }

/// The rows of a step's predictions that were asked for: others were repeated, or belong to idle
/// slots.
at::Tensor rows_of(std::span<const nn::Extension> extensions, const StepShape& shape) {
  std::vector<std::int64_t> rows;
  for (const auto& [slot, added] : extensions) {
    const auto first = (slot - shape.first) * shape.predicted();
    const auto count = shape.for_prompts() ? 1 : static_cast<std::int64_t>(added.size());
    for (std::int64_t i = 0; i < count; ++i) rows.push_back(first + i);
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
  make_device_steps();
  if (options_.record || has_kernels()) return;
  if (auto host = network.host_network()) host_ = std::make_unique<nn::HostStep>(std::move(*host));
}

CodelmDecoder::~CodelmDecoder() { forget_ahead(); }

/// For every number of rows, or none.
void CodelmDecoder::make_device_steps() {
  const auto known = network_.decoding_network();
  if (!known) return;
  for (const auto rows : step_rows(slots())) {
    auto step = nn::DeviceStep::make(*known, rows);
    if (!step) return device_.clear();
    device_.emplace(rows, std::move(step));
  }
}

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
  recorded_prompts_ = 0;
  caches_ = std::move(larger);
  for (const auto& [rows, step] : device_) step->prepare(capacity());
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
    for (const auto& cache : caches_) rows.push_back(cache.rows(extension.slot, 1));
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

/// Ids and positions of the step's slots, (2, B, width) on the host. A slot with fewer tokens
/// repeats its last one: what is computed for it again is stored where it already is.
at::Tensor CodelmDecoder::inputs_of(std::span<const nn::Extension> extensions,
                                    const StepShape& shape) const {
  auto inputs = at::zeros({2, shape.rows, shape.width}, numbers());
  auto* ids = inputs.mutable_data_ptr<std::int64_t>();
  const auto fill = [&](std::int64_t slot, std::int64_t first,
                        std::span<const std::int32_t> added) {
    const auto last = static_cast<std::int64_t>(added.size()) - 1;
    const auto row = slot - shape.first;
    for (std::int64_t i = 0; i < shape.width; ++i) {
      const auto token = std::min(i, last);
      ids[row * shape.width + i] = added[static_cast<std::size_t>(token)];
      ids[(shape.rows + row) * shape.width + i] = first + token;
    }
  };
  for (auto slot = shape.first; slot < shape.first + shape.rows; ++slot) {
    const std::span<const std::int32_t> text = tokens(slot);
    if (!text.empty()) fill(slot, static_cast<std::int64_t>(text.size()) - 1, text.last(1));
  }
  for (const auto& [slot, added] : extensions) {
    fill(slot, static_cast<std::int64_t>(tokens(slot).size()), added);
  }
  return inputs;
}

void CodelmDecoder::compute(Step& step) {
  const auto& shape = step.shape;
  if (has_kernels() && shape.width == 1) {
    return device_.at(shape.rows)->run(step.inputs.squeeze(2), step.caches, step.results);
  }
  const nn::NewPositions places{.positions = step.inputs[1], .extent = step.extent};
  auto hidden = network_.forward_cached(step.inputs[0], places, step.caches, pass_);
  if (shape.for_prompts()) hidden = hidden.narrow(1, shape.width - 1, 1);
  const auto logits = network_.logits(hidden.flatten(0, 1));  // (rows, V)
  step.results.logits.copy_(logits);
  step.results.likeliest.copy_(nn::likeliest_of(logits));
}

/// Is this launch the one at which a step is recorded? Prompts of a shape may come only once.
bool CodelmDecoder::is_to_be_recorded(Step& step) {
  if (!options_.record) return false;
  const auto before = step.launches++;
  if (!step.shape.for_prompts()) return before == 0;
  return before == 1 && recorded_prompts_++ < kMostPromptRecordings;
}

void CodelmDecoder::launch(Step& step) {
  if (is_to_be_recorded(step)) {
    // Rehearsals compute these very inputs: they leave nothing else behind.
    step.recording = device::record(step.inputs.device(), "a decoding step of codelm",
                                    [this, &step] { compute(step); });
  }
  step.recording ? step.recording->replay() : compute(step);
}

CodelmDecoder::Step& CodelmDecoder::prepared_step(const StepShape& shape) {
  const auto known = steps_.find(shape);
  if (known != steps_.end()) return known->second;
  const auto device = network_.head().device();
  const auto f32 = at::TensorOptions(at::kFloat).device(device);
  const auto rows = shape.rows * shape.predicted();
  Step step;
  step.shape = shape;
  step.inputs = at::zeros({2, shape.rows, shape.width}, numbers().device(device));
  step.results = {.logits = at::empty({rows, vocabulary()}, f32),
                  .likeliest = at::empty({rows, 2}, f32),
                  .next = at::zeros({2, rows}, numbers().device(device))};
  for (const auto& cache : caches_) step.caches.push_back(cache.rows(shape.first, shape.rows));
  return steps_.emplace(shape, std::move(step)).first->second;
}

/// Tokens of the longest text in the step's slots, with what is to be appended: those that rest
/// repeat their last token, which must see all of its text.
std::int64_t CodelmDecoder::longest_text(std::span<const nn::Extension> extensions,
                                         const StepShape& shape) const {
  std::int64_t longest = 1;
  for (auto slot = shape.first; slot < shape.first + shape.rows; ++slot) {
    longest = std::max<std::int64_t>(longest, std::ssize(tokens(slot)));
  }
  for (const auto& [slot, added] : extensions) {
    longest = std::max<std::int64_t>(longest, std::ssize(tokens(slot)) + std::ssize(added));
  }
  return longest;
}

std::optional<nn::Predictions> CodelmDecoder::append_prompts(std::span<const nn::Extension> prompts,
                                                             nn::Wanted wanted) {
  ahead_ = at::Tensor();  // the texts are others, perhaps of the same length
  if (!options_.record && !has_kernels()) return {};
  const auto is_single = [](const nn::Extension& each) { return each.tokens.size() == 1; };
  single_before_ = false;  // what is decoded next may be other slots
  if (std::ranges::all_of(prompts, is_single)) return append_each(prompts, wanted);
  if (!options_.record) return {};
  const auto longest = longest_text(prompts, step_shape(prompts, slots()));
  const c10::InferenceMode inference;
  reserve(longest);
  const auto shape = prompt_shape(prompts, slots(), longest, capacity());
  if (shape.width == 0) return {};
  auto& step = prepared_step(shape);
  step.extent = shape.prompt_extent;
  step.inputs.copy_(inputs_of(prompts, shape));
  launch(step);
  return read_step(step, prompts, wanted);
}

nn::Predictions CodelmDecoder::append_each(std::span<const nn::Extension> extensions,
                                           nn::Wanted wanted) {
  if (!options_.record && !has_kernels() && extensions.size() == 1) {
    return Decoder::append_each(extensions, wanted);
  }
  const c10::InferenceMode inference;
  std::size_t total = 0;
  for (const auto& each : extensions) total += each.tokens.size();
  auto shape = step_shape(extensions, slots());
  const auto longest = longest_text(extensions, shape);
  if (host_ && total <= nn::HostStep::kMostTokens) return append_on_host(extensions, 0, wanted);
  reserve(longest);
  if (options_.record) {
    shape.width = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(shape.width)));
  }
  auto& step = prepared_step(shape);
  step.extent = options_.record ? capacity() : longest;
  const auto inputs = inputs_of(extensions, shape);
  if (!is_ahead(step, inputs, extensions)) {
    step.inputs.copy_(inputs);
    launch(step);
  }
  ahead_ = at::Tensor();
  const bool goes_on = std::exchange(single_before_, shape.width == 1) && shape.width == 1;
  if (has_kernels() && goes_on && wanted == nn::Wanted::Likeliest) {
    return read_and_go_on(step, inputs, extensions);
  }
  return read_step(step, extensions, wanted);
}

/// Has a step with these inputs been started already? Idle slots do not matter.
bool CodelmDecoder::is_ahead(const Step& step, const at::Tensor& inputs,
                             std::span<const nn::Extension> extensions) const {
  const auto& shape = step.shape;
  if (!ahead_.defined() || ahead_shape_ != shape) return false;
  const auto *wanted = inputs.const_data_ptr<std::int64_t>(),
             *expected = ahead_.const_data_ptr<std::int64_t>();
  return std::ranges::all_of(extensions, [&](const nn::Extension& each) {
    const auto id = each.slot - shape.first, position = shape.rows + id;
    return wanted[id] == expected[id] && wanted[position] == expected[position];
  });
}

/// Starts the step after this one, which is the next if the likeliest tokens are chosen, and reads
/// this one meanwhile: the device never waits for the host.
nn::Predictions CodelmDecoder::read_and_go_on(Step& step, const at::Tensor& inputs,
                                              std::span<const nn::Extension> extensions) {
  const auto& shape = step.shape;
  step.readback.begin(step.results.likeliest);
  auto expected = (inputs + 1).squeeze(2);  // positions; ids follow
  auto* values = expected.mutable_data_ptr<std::int64_t>();
  const bool room = std::ranges::all_of(extensions, [&](const nn::Extension& each) {
    return values[shape.rows + each.slot - shape.first] < std::min(limit_, capacity());
  });
  if (room) {
    step.inputs.copy_(step.results.next.unsqueeze(2));
    launch(step);
    went_ahead_ = true;
  }
  const auto& host = step.readback.wait();
  auto found = nn::read_likeliest(host.index_select(0, rows_of(extensions, shape)));
  if (room) {
    for (std::size_t i = 0; i < extensions.size(); ++i) {
      values[extensions[i].slot - shape.first] = found.likeliest[i];
    }
    ahead_ = expected;
    ahead_shape_ = shape;
  }
  return found;
}

nn::Predictions CodelmDecoder::read_step(const Step& step,
                                         std::span<const nn::Extension> extensions,
                                         nn::Wanted wanted) const {
  const auto rows = rows_of(extensions, step.shape);
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
