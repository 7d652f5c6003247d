// SPDX-License-Identifier: Apache-2.0
// What the solver gives the maker of puzzles. Inside the room only.
#pragma once

#include "ubique/data/puzzles/sudoku/sudoku.h"

namespace ubique::data {

struct SudokuUnit {
  std::uint8_t row, column, box;
};
using SudokuUnits = std::array<SudokuUnit, kMostSudokuCells>;

/// Where each cell stands.
const SudokuUnits& sudoku_units(const SudokuShape& shape);

/// A full grid, guessed in random order.
SudokuGrid random_solution(const SudokuShape& shape, const Random& random);
/// Whether a puzzle of one solution gets another one without its clue in `cell`: the cell may then
/// take another digit, which is all that has to be looked for.
bool needs_clue(const SudokuShape& shape, const SudokuGrid& puzzle, std::size_t cell);

}  // namespace ubique::data
