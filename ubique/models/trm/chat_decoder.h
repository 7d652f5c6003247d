// SPDX-License-Identifier: Apache-2.0
// What a chat model says next. Attention looks back alone and every step of the recursion starts
// from the same vectors, so what was computed for a place never changes as the text grows: keys and
// values of every call are kept, and a new token costs one place, exactly. Knows no words.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ubique/models/trm/attention.h"
#include "ubique/models/trm/network.h"

namespace ubique::trm {

/// Input error if it is no chat model: attention must be causal, and puzzles have no place in front
/// of the text.
void check_speaks(const TrmConfig& config);

class ChatDecoder {
 public:
  /// The network on its device, which must outlive this, computed in `dtype`. It must speak.
  ChatDecoder(const Trm& network, at::ScalarType dtype);

  std::int64_t room() const { return network_.config().seq_len; }
  std::int64_t vocabulary() const { return network_.config().vocab_size; }
  /// The text so far.
  const std::vector<std::int32_t>& tokens() const { return tokens_; }

  /// The text becomes `tokens`; what it shares with the text so far, from its start, is kept. Gives
  /// what the network thinks of each token as the next one: `vocabulary()` logits, on the host. At
  /// least one token, at most room().
  std::vector<float> read(std::span<const std::int32_t> tokens);
  /// The same for the text with one token more.
  std::vector<float> read_on(std::int32_t token);

 private:
  std::vector<float> append(std::span<const std::int32_t> tokens);
  at::Tensor embedded(std::span<const std::int32_t> tokens) const;
  at::Tensor call(const at::Tensor& h, const at::Tensor& injected, std::size_t& memory);

  const Trm& network_;
  TrmWeights weights_;
  std::vector<AttentionMemory> memories_;  // of every block of every call
  std::vector<std::int32_t> tokens_;
};

}  // namespace ubique::trm
