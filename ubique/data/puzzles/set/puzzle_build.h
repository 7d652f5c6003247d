// SPDX-License-Identifier: Apache-2.0
// Data sets made from nothing: sudokus and mazes, a training and a test set without twins between
// them. The same options give the same sets on every machine and any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "ubique/data/puzzles/set/puzzle_set.h"

namespace ubique::data {

using PuzzleProgress = std::function<void(std::int64_t done)>;  ///< may throw to stop

struct SudokuBuild {
  int size = 9;
  std::int64_t train = 1000, test = 1000;
  std::uint64_t seed = 42;
  /// Clues are taken away until so many are left, drawn from low to high for each puzzle, or none
  /// can go any more. Below 0: what suits the size, see usual_clues().
  int clues_low = -1, clues_high = -1;
  std::int64_t min_backtracks = 0;  ///< easier puzzles are left out
};

/// 9x9: 0 to 0, so no clue is left that can go. 6x6: 8 to 14. 4x4: 4 to 9, as there are only 36
/// different puzzles in which every clue is needed.
std::pair<int, int> usual_clues(int size);

/// What goes under `ubique` into dataset.json: all options, as they will be used. Usage error for
/// those out of range.
Json build_note(const SudokuBuild& options);
/// Usage error for options out of range, and if there are not as many different puzzles.
PuzzleSplits build_sudokus(const SudokuBuild& options, int threads = 1,
                           const PuzzleProgress& progress = {});

struct MazeBuild {
  int rows = 30, cols = 30;
  std::int64_t train = 1000, test = 1000;
  std::uint64_t seed = 42;
  std::int64_t min_path = -1;  ///< moves from start to goal; below 0: an eighth of the cells
};

Json build_note(const MazeBuild& options);
PuzzleSplits build_mazes(const MazeBuild& options, int threads = 1,
                         const PuzzleProgress& progress = {});

}  // namespace ubique::data
