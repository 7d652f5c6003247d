// SPDX-License-Identifier: Apache-2.0
// Difficulty of the puzzles of a set: backtracks of a solver, or moves to the goal.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ubique/data/puzzles/set/puzzle_set.h"

namespace ubique::data {

struct PuzzleStats {
  std::string measure;               ///< "backtracks", "moves"; empty: nothing to measure
  std::vector<std::int64_t> values;  ///< ascending
  std::vector<std::int64_t> clues;   ///< of sudokus, ascending
};

/// Measures at most `most` examples, evenly spread over the set.
PuzzleStats measure_puzzles(const PuzzleSet& set, int threads = 1, std::int64_t most = 10'000);

struct PuzzleBin {
  std::string label;  ///< "4-15"
  std::int64_t count = 0;
};

/// Backtracks in bins that grow by a factor of four, moves in up to eight bins of equal width.
std::vector<PuzzleBin> difficulty_histogram(const PuzzleStats& stats);

}  // namespace ubique::data
