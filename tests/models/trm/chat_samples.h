// SPDX-License-Identifier: Apache-2.0
// A small causal network with random weights and a byte tokenizer for it.
#pragma once

#include "ubique/data/chat/chat_set.h"
#include "ubique/models/trm/use/chat_decoder.h"
#include "ubique/nn/decode/chat_session.h"

namespace ubique::test {

inline trm::TrmConfig chat_config(trm::Positions positions = trm::Positions::Rope) {
  trm::TrmConfig config;
  config.seq_len = 24;
  config.vocab_size = 266;
  config.hidden_size = 32;
  config.num_heads = 2;
  config.expansion = 1;
  config.layers = 2;
  config.high_cycles = config.low_cycles = 1;
  config.causal = true;
  config.positions = positions;
  config.puzzle_emb_ndim = config.puzzle_emb_len = 0;
  config.halt_max_steps = 1;
  config.halt_exploration_prob = 0;
  config.loss = trm::LossForm::Softmax;
  return config;
}

/// A network with random weights and a tokenizer with its 266 tokens.
struct ChatSample {
  trm::Trm network;
  io::Tokenizer tokenizer{data::train_chat_tokenizer({}, 266)};
  io::MarkerTemplate tokens{tokenizer};

  explicit ChatSample(const trm::TrmConfig& config = chat_config()) : network(config) {
    trm::initialize(network, Random(3));
  }
};

}  // namespace ubique::test
