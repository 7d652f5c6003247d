// SPDX-License-Identifier: Apache-2.0
// Sudokus from CSV files with the columns of Sudoku-Extreme: source, question, answer, rating.
// Every puzzle read is solved, so that no wrong label gets into a training set.
#pragma once

#include <cstdint>
#include <filesystem>

#include "ubique/data/puzzles/set/puzzle_set.h"

namespace ubique::data {

struct SudokuCsvOptions {
  std::int64_t min_rating = 0;  ///< 0: all, and the column `rating` is not needed
  std::int64_t limit = 0;       ///< size of a random subset, in the file's order; 0: all
  std::uint64_t seed = 42;
};

/// Input error that names the line for a puzzle with no or several solutions, an answer that is
/// not its solution, a wrong character or length. Usage error for options below 0.
PuzzleSet read_sudoku_csv(const std::filesystem::path& path, const SudokuCsvOptions& options,
                          int threads = 1, const PuzzleProgress& progress = {});

/// When two puzzles count as the same: equivalent by symmetry, or equal cell by cell, which is fast
/// for millions.
enum class Sameness { Symmetry, Cells };

/// Both sets, the training set without the puzzles of the test set. Usage error if none are left,
/// Input error for sudokus of different sizes.
PuzzleSplits without_test_puzzles(const PuzzleSet& train, const PuzzleSet& test, Sameness sameness,
                                  int threads = 1);

/// The last `test` puzzles become the test set; training puzzles equivalent to them are dropped.
/// Usage error if there are too few.
PuzzleSplits split_off_test(const PuzzleSet& set, std::int64_t test, int threads = 1);

}  // namespace ubique::data
