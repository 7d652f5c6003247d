// SPDX-License-Identifier: Apache-2.0
// A canonical form of sudoku grids under their symmetries, to find equivalent puzzles.
#pragma once

#include <string>

#include "ubique/data/puzzles/sudoku/sudoku.h"

namespace ubique::data {

/// Equal for two grids if and only if a symmetry maps one to the other. 4x4 and 6x6 grids may have
/// blanks; a 9x9 grid must be full (Internal error), as its more than 3 million cell permutations
/// are too many to try.
SudokuGrid canonical_form(const SudokuShape& shape, const SudokuGrid& grid);

/// Equal for puzzles that count as the same. 9x9: those with equivalent solutions, so that not even
/// a solution of the test set is seen in training. Smaller: those with equivalent clues, as only 2
/// solutions of 4x4 and a few dozen of 6x6 are not equivalent.
std::string sudoku_key(const SudokuShape& shape, const SudokuPuzzle& made);

}  // namespace ubique::data
