// SPDX-License-Identifier: Apache-2.0
// Accuracy and speed of a Solver on a labelled set, measured on the answers it delivers, exactly as
// `run` gives them. (Validation during training uses evaluation.h instead.)
#pragma once

#include <functional>

#include "ubique/base/text/json_fwd.h"
#include "ubique/data/puzzles/arc/arc_votes.h"
#include "ubique/data/puzzles/set/puzzle_set.h"
#include "ubique/models/trm/use/solver.h"

namespace ubique::trm {

/// Means over the puzzles that have labels.
struct SolveScores {
  std::int64_t puzzles = 0;
  double exact = 0;   ///< share of puzzles with every label right
  double tokens = 0;  ///< share of a puzzle's labels that are right
  double halts = 0;   ///< share of puzzles whose halting logit predicts whether the answer is right
  double steps = 0;
  double seconds = 0;  ///< in all
  bool stopped = false;

  Json json() const;
};

/// All ranks, each its share: solves `examples` of the set. Each answer is also added to `votes`,
/// if given. `on_solved` is called after every puzzle; SolverOptions::should_continue can stop it.
SolveScores score_solver(Solver& solver, const data::PuzzleSet& set,
                         const std::vector<std::int64_t>& examples, data::ArcVotes* votes,
                         const std::function<void()>& on_solved = {});

}  // namespace ubique::trm
