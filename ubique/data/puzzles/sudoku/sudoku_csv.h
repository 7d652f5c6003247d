// SPDX-License-Identifier: Apache-2.0
// Sudokus from CSV in the columns of Sudoku-Extreme: source, question, answer, rating. Every puzzle
// that is taken is solved, so that no wrong label gets into a training set.
#pragma once

#include <cstdint>
#include <filesystem>

#include "ubique/data/puzzles/set/puzzle_build.h"

namespace ubique::data {

struct SudokuCsvOptions {
  std::int64_t min_rating = 0;  ///< 0: all, and no column `rating` is needed
  std::int64_t limit = 0;       ///< so many of them, drawn by `seed`, in the file's order; 0: all
  std::uint64_t seed = 42;
};

/// Input error that names the line for a puzzle with no or several solutions, an answer that is
/// not its solution, a wrong character or length. Usage error for options below 0.
PuzzleSet read_sudoku_csv(const std::filesystem::path& path, const SudokuCsvOptions& options,
                          int threads = 1, const PuzzleProgress& progress = {});

/// When two puzzles count as one: up to symmetry, or only cell by cell, which is quick for
/// millions.
enum class Sameness { Twins, Cells };

/// Both, but a puzzle that is to test with is left out of the training set. Usage error if that
/// leaves none, Input error for sudokus of two sizes.
PuzzleSplits without_tested(const PuzzleSet& train, const PuzzleSet& test, Sameness sameness,
                            int threads = 1);

/// The last `test` puzzles of the set become the test set, their twins nothing. Usage error if too
/// few are there.
PuzzleSplits split_off_test(const PuzzleSet& set, std::int64_t test, int threads = 1);

}  // namespace ubique::data
