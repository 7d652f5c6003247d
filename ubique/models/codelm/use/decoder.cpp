// SPDX-License-Identifier: Apache-2.0
// Passes over new tokens, and caches that grow.
#include "ubique/models/codelm/use/decoder.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "ubique/base/error.h"

namespace ubique::codelm {
namespace {

constexpr std::int64_t kSmallestCache = 256;
/// Tokens of a prompt that are computed at once: bounds the memory of masks and activations.
constexpr std::size_t kPromptPiece = 1024;

}  // namespace

CodelmDecoder::CodelmDecoder(const Codelm& network, const PassOptions& options,
                             std::int64_t most_tokens)
    : network_(network), options_(options), limit_(network.config().context) {
  if (most_tokens > 0) limit_ = std::min(limit_, most_tokens);
}

std::vector<float> CodelmDecoder::prefill(std::span<const std::int32_t> tokens) {
  const auto count = static_cast<std::int64_t>(tokens.size());
  check(count > 0 && count <= limit_, ErrorKind::Internal,
        "[codelm.decode] a text of {} tokens does not fit; expected 1 to {}.", count, limit_);
  const auto [mine, other] =
      std::mismatch(tokens_.begin(), tokens_.end(), tokens.begin(), tokens.end());
  // The last token is computed again even if it is cached: its logits are wanted.
  const auto shared = std::min<std::ptrdiff_t>(mine - tokens_.begin(), count - 1);
  tokens_.resize(static_cast<std::size_t>(shared));
  auto rest = tokens.subspan(static_cast<std::size_t>(shared));
  while (rest.size() > kPromptPiece) {
    append(rest.first(kPromptPiece));
    rest = rest.subspan(kPromptPiece);
  }
  return append(rest);
}

std::vector<float> CodelmDecoder::step(std::int32_t token) {
  check(static_cast<std::int64_t>(tokens_.size()) < limit_, ErrorKind::Internal,
        "[codelm.decode] the context window of {} tokens is full.", limit_);
  return append({&token, 1});
}

/// Makes room for that many positions, keeping what the caches hold.
void CodelmDecoder::reserve(std::int64_t positions) {
  if (!caches_.empty() && caches_.front().capacity() >= positions) return;
  const auto& config = network_.config();
  const auto capacity = std::min(limit_, std::max({positions, kSmallestCache, 2 * positions}));
  const auto held = static_cast<std::int64_t>(tokens_.size());
  std::vector<nn::KvCache> larger;
  for (std::int64_t i = 0; i < config.layers; ++i) {
    larger.push_back(nn::KvCache::make(1, config.kv_heads, capacity, config.head_size,
                                       network_.head().options()));
    if (held == 0 || caches_.empty()) continue;
    const auto& old = caches_[static_cast<std::size_t>(i)];
    larger.back().store(old.keys.slice(2, 0, held), old.values.slice(2, 0, held), 0);
  }
  caches_ = std::move(larger);
}

std::vector<float> CodelmDecoder::append(std::span<const std::int32_t> tokens) {
  const at::NoGradGuard no_gradients;
  const auto first = static_cast<std::int64_t>(tokens_.size());
  for (const auto token : tokens) {
    check(token >= 0 && token < vocabulary(), ErrorKind::Input,
          "[codelm.decode] the token {} is not in the model's vocabulary of {}; was another "
          "tokenizer used?",
          token, vocabulary());
  }
  reserve(first + static_cast<std::int64_t>(tokens.size()));
  const auto ids = at::tensor(at::ArrayRef<int>(tokens.data(), tokens.size()), at::kInt)
                       .to(at::kLong)
                       .to(network_.head().device())
                       .unsqueeze(0);  // (1, n)
  const auto hidden = network_.forward_cached(ids, first, caches_, options_);
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  const auto logits =
      network_.logits(hidden.select(1, -1)).to(at::kCPU, at::kFloat).contiguous();  // (1, V)
  const auto* values = logits.const_data_ptr<float>();
  return {values, values + logits.numel()};
}

}  // namespace ubique::codelm
