// SPDX-License-Identifier: Apache-2.0
// The texts of the slots, the part of a prompt that is already cached, and reading predictions.
#include "ubique/nn/decode/decoder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ubique/base/error.h"

namespace ubique::nn {
namespace {

/// Tokens of a prompt that are computed at once: bounds the memory of masks and activations.
constexpr std::size_t kPromptPiece = 1024;

}  // namespace

void Predictions::add(const Predictions& more) {
  likeliest.insert(likeliest.end(), more.likeliest.begin(), more.likeliest.end());
  ranked.insert(ranked.end(), more.ranked.begin(), more.ranked.end());
  logits.insert(logits.end(), more.logits.begin(), more.logits.end());
}

const std::vector<std::int32_t>& Decoder::tokens(std::int64_t slot) const {
  return texts_.at(static_cast<std::size_t>(slot));
}

std::vector<std::int32_t>& Decoder::text(std::int64_t slot) {
  return texts_.at(static_cast<std::size_t>(slot));
}

void Decoder::check_tokens(std::span<const std::int32_t> tokens) const {
  for (const auto token : tokens) {
    check(token >= 0 && token < vocabulary(), ErrorKind::Input,
          "[nn.decode] the token {} is not in the model's vocabulary of {}; was another tokenizer "
          "used?",
          token, vocabulary());
  }
}

void Decoder::remember(const Extension& extension) {
  auto& kept = text(extension.slot);
  kept.insert(kept.end(), extension.tokens.begin(), extension.tokens.end());
}

/// Shortens a slot's text to what the wanted one begins with, and returns the rest of that.
std::span<const std::int32_t> Decoder::keep_shared(const Extension& wanted_text) {
  const auto rest = wanted_text.tokens;
  const auto count = static_cast<std::int64_t>(rest.size());
  check(count > 0 && count <= context_length(), ErrorKind::Internal,
        "[nn.decode] a text of {} tokens does not fit; expected 1 to {}.", count, context_length());
  check_tokens(rest);
  auto& kept = text(wanted_text.slot);
  const auto [mine, other] = std::mismatch(kept.begin(), kept.end(), rest.begin(), rest.end());
  // The last token is computed again even if it is cached: what follows it is wanted.
  const auto shared = std::min<std::ptrdiff_t>(mine - kept.begin(), count - 1);
  kept.resize(static_cast<std::size_t>(shared));
  return rest.subspan(static_cast<std::size_t>(shared));
}

Predictions Decoder::append_pieces(const Extension& prompt, Wanted wanted) {
  for (auto rest = prompt.tokens;;) {
    const Extension piece{prompt.slot, rest.first(std::min(rest.size(), kPromptPiece))};
    auto next = append(piece, 1, wanted);
    remember(piece);
    rest = rest.subspan(piece.tokens.size());
    if (rest.empty()) return next;
  }
}

Predictions Decoder::start(const Extension& text, Wanted wanted) {
  return start_each({&text, 1}, wanted);
}

Predictions Decoder::start_each(std::span<const Extension> texts, Wanted wanted) {
  std::vector<Extension> rests;
  for (const auto& each : texts) rests.push_back({each.slot, keep_shared(each)});
  if (auto together = append_prompts(rests, wanted)) {
    for (const auto& each : rests) remember(each);
    return std::move(*together);
  }
  Predictions all;
  for (const auto& each : rests) all.add(append_pieces(each, wanted));
  return all;
}

Predictions Decoder::extend(std::span<const Extension> extensions, Wanted wanted) {
  for (const auto& extension : extensions) {
    const auto length = tokens(extension.slot).size() + extension.tokens.size();
    check(!extension.tokens.empty() && static_cast<std::int64_t>(length) <= context_length(),
          ErrorKind::Internal, "[nn.decode] {} tokens make {}, expected at most {}.",
          extension.tokens.size(), length, context_length());
    check_tokens(extension.tokens);
  }
  auto next = append_each(extensions, wanted);
  for (const auto& extension : extensions) remember(extension);
  return next;
}

Predictions Decoder::append_each(std::span<const Extension> extensions, Wanted wanted) {
  Predictions all;
  for (const auto& extension : extensions) {
    all.add(append(extension, static_cast<std::int64_t>(extension.tokens.size()), wanted));
  }
  return all;
}

void Decoder::shorten(std::int64_t slot, std::int64_t length) {
  auto& kept = text(slot);
  check(length >= 0 && length <= static_cast<std::int64_t>(kept.size()), ErrorKind::Internal,
        "[nn.decode] a text of {} tokens cannot be shortened to {}.", kept.size(), length);
  kept.resize(static_cast<std::size_t>(length));
}

std::vector<float> Decoder::prefill(std::span<const std::int32_t> tokens) {
  return start({.tokens = tokens}, Wanted::Logits).logits;
}

std::vector<float> Decoder::step(std::int32_t token) {
  const Extension one{.tokens = {&token, 1}};
  return extend({&one, 1}, Wanted::Logits).logits;
}

at::Tensor likeliest_of(const at::Tensor& logits) {
  const auto [largest, ids] = logits.max(-1);
  return at::stack({ids.to(at::kFloat), largest.to(at::kFloat)}, -1);
}

void check_logit(float logit, std::int64_t token) {
  check(std::isfinite(logit), ErrorKind::Input,
        "[nn.decode] the model gave {} for token {}; expected a number. Damaged weights, or a "
        "dtype that is too narrow: try --dtype f32.",
        logit, token);
}

Predictions read_likeliest(const at::Tensor& likeliest) {
  const auto host = likeliest.to(at::kCPU).contiguous();
  const auto* values = host.const_data_ptr<float>();
  Predictions read;
  for (std::int64_t i = 0; i < host.size(0); ++i, values += 2) {
    const auto token = static_cast<std::int32_t>(values[0]);
    check_logit(values[1], token);
    read.likeliest.push_back(token);
  }
  return read;
}

std::vector<TokenLogit> read_ranked(const at::Tensor& logits) {
  const auto count = std::min(kRanked, logits.size(-1));
  const auto [largest, ids] = logits.topk(count);
  const auto host = at::stack({ids.to(at::kFloat), largest.to(at::kFloat)}, -1).to(at::kCPU);
  const auto* values = host.const_data_ptr<float>();
  std::vector<TokenLogit> ranked;
  for (std::int64_t i = 0; i < logits.size(0) * count; ++i, values += 2) {
    ranked.push_back({static_cast<std::int32_t>(values[0]), values[1]});
  }
  for (auto row = ranked.begin(); row != ranked.end(); row += count) {
    check_logit(row->logit, row->token);  // a NaN ranks before all numbers
    std::sort(row, row + count, ranks_before);
  }
  return ranked;
}

Predictions read_predictions(const at::Tensor& logits, Wanted wanted) {
  if (wanted == Wanted::Likeliest) return read_likeliest(likeliest_of(logits));
  if (wanted == Wanted::Ranked) return {.ranked = read_ranked(logits)};
  const auto host = logits.to(at::kCPU, at::kFloat).contiguous();
  const auto* values = host.const_data_ptr<float>();
  return {.logits = {values, values + host.numel()}};
}

}  // namespace ubique::nn
