// SPDX-License-Identifier: Apache-2.0
// What builders of sudoku sets share. Inside the room only.
#pragma once

#include <string>

#include "ubique/data/puzzles/sudoku/sudoku.h"

namespace ubique::data {

/// Which puzzles count as one: 9x9 puzzles whose solutions are twins, so that not even a solution
/// of the test set was seen; smaller ones whose clues are twins, as there are only 2 solutions of
/// 4x4 and a few dozen of 6x6 to tell apart.
inline std::string sudoku_key(const SudokuShape& shape, const SudokuPuzzle& made) {
  const auto form = canonical_form(shape, shape.size == 9 ? made.solution : made.puzzle);
  return {form.begin(), form.end()};
}

/// A group of its own.
inline void add_sudoku(PuzzleSet& set, const SudokuShape& shape, const SudokuPuzzle& made) {
  add_example(set, sudoku_tokens(shape, made.puzzle), sudoku_tokens(shape, made.solution));
  end_puzzle(set, 0);
  end_group(set);
}

/// "12.4...": all cells in one line.
inline std::string sudoku_text(const SudokuShape& shape, const SudokuGrid& grid) {
  std::string text;
  for (int cell = 0; cell < shape.cells(); ++cell) {
    const auto digit = grid[static_cast<std::size_t>(cell)];
    text += digit == 0 ? '.' : static_cast<char>('0' + digit);
  }
  return text;
}

}  // namespace ubique::data
