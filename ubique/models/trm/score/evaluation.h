// SPDX-License-Identifier: Apache-2.0
// Validation during training: the share of puzzles solved after all steps, as the original counts,
// and when each puzzle stops at its first positive halting logit; both from one pass.
#pragma once

#include "ubique/data/puzzles/set/puzzle_set.h"
#include "ubique/engine/contract/batch.h"
#include "ubique/models/trm/net/network.h"

namespace ubique::trm {

struct EvaluationOptions {
  std::int64_t batch = 256;  ///< puzzles per batch
  std::int64_t limit = 0;    ///< number of puzzles, spread evenly over the set; 0 = all
  std::int64_t steps = 0;    ///< supervision steps; 0 = halt_max_steps
};

/// exact_accuracy, accuracy, q_halt_accuracy, steps, exact_accuracy_early, steps_early, lm_loss and
/// q_halt_loss, means over puzzles that have labels. All ranks, each its share of batches. Without
/// gradients and autocast, on the weights' device, with one host synchronisation. Input error for
/// puzzles that do not fit the network.
engine::Scores evaluate(const Trm& network, const TrmWeights& weights, const data::PuzzleSet& set,
                        const EvaluationOptions& options = {});

}  // namespace ubique::trm
