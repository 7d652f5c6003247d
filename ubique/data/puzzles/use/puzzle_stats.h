// SPDX-License-Identifier: Apache-2.0
// How hard the puzzles of a set are: guesses that a solver takes back, or moves to the goal.
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

/// Looks at `most` examples at most, evenly spread.
PuzzleStats measure_puzzles(const PuzzleSet& set, int threads = 1, std::int64_t most = 10'000);

struct PuzzleBin {
  std::string label;  ///< "4-15"
  std::int64_t count = 0;
};

/// Backtracks by powers of four, moves in up to eight bins of one width.
std::vector<PuzzleBin> difficulty_histogram(const PuzzleStats& stats);

}  // namespace ubique::data
