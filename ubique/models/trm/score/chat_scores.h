// SPDX-License-Identifier: Apache-2.0
// How well a chat model predicts conversations: loss, perplexity and accuracy per token.
#pragma once

#include <functional>
#include <vector>

#include "ubique/base/text/json_fwd.h"
#include "ubique/data/puzzles/set/puzzle_set.h"
#include "ubique/models/trm/net/network.h"

namespace ubique::trm {

struct ChatScores {
  std::int64_t conversations = 0, rows = 0;
  std::int64_t tokens = 0;  ///< with a label
  double lm_loss = 0;       ///< mean over rows of the row's mean; what training watches
  double token_loss = 0;    ///< mean over tokens
  double accuracy = 0;      ///< share of tokens that have the largest logit
  double seconds = 0;
  bool stopped = false;

  double perplexity() const;  ///< per token
  Json json() const;
};

/// All ranks, each its share: scores `examples` (rows) of the set in batches; `should_continue` is
/// called after each batch with its size. Without gradients and autocast, on the weights' device.
ChatScores score_chat(const Trm& network, const TrmWeights& weights, const data::PuzzleSet& set,
                      const std::vector<std::int64_t>& examples, std::int64_t batch,
                      const std::function<bool(std::int64_t)>& should_continue);

}  // namespace ubique::trm
