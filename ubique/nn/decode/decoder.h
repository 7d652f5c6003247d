// SPDX-License-Identifier: Apache-2.0
// Incremental decoding as chat and completion see it: token ids in, logits of the next token out.
// A family implements it over its own network and KV caches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ubique::nn {

class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual std::int64_t context_length() const = 0;  ///< tokens it can hold
  virtual std::int64_t vocabulary() const = 0;
  /// The tokens that the caches hold now.
  virtual const std::vector<std::int32_t>& tokens() const = 0;
  /// Replaces the text by `tokens` (1 to context_length()); positions shared with the text so far,
  /// from its start, are not computed again. Returns the next token's logits, on the host.
  virtual std::vector<float> prefill(std::span<const std::int32_t> tokens) = 0;
  /// Appends one token and returns the next one's logits.
  virtual std::vector<float> step(std::int32_t token) = 0;
};

}  // namespace ubique::nn
