// SPDX-License-Identifier: Apache-2.0
// Incremental decoding of a causal TRM with a KV cache per block of every recursion call. Each step
// of the recursion starts from the same vectors, so the keys and values of a position never change:
// a new token costs one position and gives the numbers of the full pass. Token ids only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ubique/models/trm/net/network.h"
#include "ubique/nn/decode/decoder.h"
#include "ubique/nn/layers/kv_cache.h"

namespace ubique::trm {

/// Input error unless it is a chat model: causal attention, no puzzle embedding before the text.
void check_chat_model(const TrmConfig& config);

class ChatDecoder final : public nn::Decoder {
 public:
  /// The network on its device, which must outlive this, computed in `dtype`.
  ChatDecoder(const Trm& network, at::ScalarType dtype);

  std::int64_t context_length() const override { return network_.config().seq_len; }
  std::int64_t vocabulary() const override { return network_.config().vocab_size; }

 private:
  nn::Predictions append(const nn::Extension& extension, std::int64_t predicted,
                         nn::Wanted wanted) override;
  at::Tensor embedded(std::span<const std::int32_t> added) const;
  at::Tensor call(const at::Tensor& h, const at::Tensor& injected, std::size_t& cache);

  const Trm& network_;
  TrmWeights weights_;
  std::vector<nn::KvCache> caches_;  // one per block of every recursion call
};

}  // namespace ubique::trm
