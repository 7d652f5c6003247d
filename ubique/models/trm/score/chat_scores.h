// SPDX-License-Identifier: Apache-2.0
// How well a chat model foresees conversations: loss, perplexity and the share of tokens right.
#pragma once

#include <functional>
#include <vector>

#include "ubique/base/text/json_fwd.h"
#include "ubique/data/puzzles/set/puzzle_set.h"
#include "ubique/models/trm/net/network.h"

namespace ubique::trm {

struct ChatScores {
  std::int64_t conversations = 0, rows = 0;
  std::int64_t tokens = 0;  ///< that have a label
  double lm_loss = 0;       ///< mean over rows of a row's mean: what training watches
  double token_loss = 0;    ///< mean over tokens
  double accuracy = 0;      ///< share of tokens that are the likeliest
  double seconds = 0;
  bool stopped = false;

  double perplexity() const;  ///< per token
  Json json() const;
};

/// `examples` (rows) of the set, `batch` at once; `goes_on` is told after each how many more are
/// done. Without gradient and autocast, on the weights' device.
ChatScores score_chat(const Trm& network, const TrmWeights& weights, const data::PuzzleSet& set,
                      const std::vector<std::int64_t>& examples, std::int64_t batch,
                      const std::function<bool(std::int64_t)>& goes_on);

}  // namespace ubique::trm
