// SPDX-License-Identifier: Apache-2.0
// Generates training and test sets of sudokus in which no two puzzles are equivalent by symmetry.
// The same options give the same sets on every machine and with any number of threads.
#pragma once

#include <cstdint>
#include <utility>

#include "ubique/data/puzzles/set/puzzle_set.h"

namespace ubique::data {

struct SudokuBuild {
  int size = 9;
  std::int64_t train = 1000, test = 1000;
  std::uint64_t seed = 42;
  /// Clues are removed until a number drawn from low to high is left, or no more can be removed.
  /// Below 0: default_clues() of the size.
  int clues_low = -1, clues_high = -1;
  std::int64_t min_backtracks = 0;  ///< easier puzzles are rejected
};

/// 9x9: 0 to 0, so as few clues as possible. 6x6: 8 to 14. 4x4: 4 to 9, as only 36 different
/// puzzles exist in which every clue is needed.
std::pair<int, int> default_clues(int size);

/// The `ubique` key of dataset.json: all options, defaults filled in. Usage error for options out
/// of range.
Json build_provenance(const SudokuBuild& options);
/// Usage error for options out of range, and if not enough different puzzles are found.
PuzzleSplits build_sudokus(const SudokuBuild& options, int threads = 1,
                           const PuzzleProgress& progress = {});

}  // namespace ubique::data
