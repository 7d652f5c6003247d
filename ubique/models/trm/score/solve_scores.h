// SPDX-License-Identifier: Apache-2.0
// How good and how fast a solver is on a set whose answers are known: by what it hands out, so that
// it is what a person who solves puzzles gets. (While training, evaluation.h asks the network.)
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
  double halts = 0;   ///< share whose wish to halt says whether all is right
  double steps = 0;
  double seconds = 0;  ///< for all of them
  bool stopped = false;

  Json json() const;
};

/// `examples` of the set. Each answer also goes to `votes`, if there are any. `taken` is told of
/// every puzzle; the solver's options say who may stop it.
SolveScores score_solver(Solver& solver, const data::PuzzleSet& set,
                         const std::vector<std::int64_t>& examples, data::ArcVotes* votes,
                         const std::function<void()>& taken = {});

}  // namespace ubique::trm
