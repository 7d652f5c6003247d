// SPDX-License-Identifier: Apache-2.0
// Solves and rates sudokus by constraint propagation and backtracking.
#pragma once

#include <limits>

#include "ubique/data/puzzles/sudoku/sudoku.h"

namespace ubique::data {

struct SudokuSolved {
  int solutions = 0;            ///< found, at most the limit
  std::int64_t backtracks = 0;  ///< guesses without a solution below them
  SudokuGrid solution{};        ///< the first one found
};

/// Fills naked singles (cells with one candidate) and hidden singles (digits with one cell in a
/// row, column or box), then guesses at the cell with the fewest candidates, the first in reading
/// order, until `limit` solutions are found. With limit 2 a puzzle with a unique solution is
/// searched completely, so `backtracks` does not depend on the names of the digits. It is the
/// difficulty measure everywhere: 0 means that no guess was needed.
/// The search gives up after `most_backtracks`.
SudokuSolved solve_sudoku(const SudokuShape& shape, const SudokuGrid& puzzle, int limit = 2,
                          std::int64_t most_backtracks = std::numeric_limits<std::int64_t>::max());

/// A random full grid.
SudokuGrid random_solution(const SudokuShape& shape, const Random& random);
/// Whether a puzzle with a unique solution gets another one without its clue in `cell`. It is
/// enough to look for a solution with another digit in that cell.
bool needs_clue(const SudokuShape& shape, const SudokuGrid& puzzle, std::size_t cell);

}  // namespace ubique::data
