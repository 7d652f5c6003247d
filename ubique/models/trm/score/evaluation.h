// SPDX-License-Identifier: Apache-2.0
// How many puzzles a network solves: after all its steps, as the original counts, and stopping each
// puzzle where the network first wishes to halt, both from one pass.
#pragma once

#include "ubique/data/puzzles/set/puzzle_set.h"
#include "ubique/engine/contract/batch.h"
#include "ubique/models/trm/net/network.h"

namespace ubique::trm {

struct EvaluationOptions {
  std::int64_t batch = 256;  ///< puzzles at once
  std::int64_t limit = 0;    ///< so many of them, spread evenly over the set; 0 = all
  std::int64_t steps = 0;    ///< supervision steps; 0 = halt_max_steps
};

/// exact_accuracy, accuracy, q_halt_accuracy, steps, exact_accuracy_early, steps_early, lm_loss and
/// q_halt_loss, means over puzzles that have labels. Without gradient and autocast, on the weights'
/// device, whose results are read once. Input error for puzzles that the network cannot take.
engine::Scores evaluate(const Trm& network, const TrmWeights& weights, const data::PuzzleSet& set,
                        const EvaluationOptions& options = {});

}  // namespace ubique::trm
