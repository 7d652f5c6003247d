// SPDX-License-Identifier: Apache-2.0
// Incremental decoding of a code language model with a KV cache per layer. Token ids only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ubique/models/codelm/net/network.h"
#include "ubique/nn/decode/decoder.h"

namespace ubique::codelm {

class CodelmDecoder final : public nn::Decoder {
 public:
  /// The network on its device, which must outlive this. Caches grow with the text, up to the
  /// model's context or `most_tokens` if that is given.
  explicit CodelmDecoder(const Codelm& network, const PassOptions& options = {},
                         std::int64_t most_tokens = 0);

  std::int64_t context_length() const override { return limit_; }
  std::int64_t vocabulary() const override { return network_.config().vocabulary; }
  const std::vector<std::int32_t>& tokens() const override { return tokens_; }
  std::vector<float> prefill(std::span<const std::int32_t> tokens) override;
  std::vector<float> step(std::int32_t token) override;

 private:
  std::vector<float> append(std::span<const std::int32_t> tokens);
  void reserve(std::int64_t positions);

  const Codelm& network_;
  PassOptions options_;
  std::int64_t limit_;
  std::vector<nn::KvCache> caches_;  // one per layer
  std::vector<std::int32_t> tokens_;
};

}  // namespace ubique::codelm
