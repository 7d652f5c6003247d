// SPDX-License-Identifier: Apache-2.0
// Sudokus of 4x4, 6x6 (boxes of 2 rows and 3 columns) and 9x9: shapes, symmetries, generation and
// tokens. The same seed gives the same puzzles on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ubique/base/numbers/random.h"
#include "ubique/data/puzzles/set/puzzle_set.h"

namespace ubique::data {

struct SudokuShape {
  int size = 9;                    ///< rows, columns and digits
  int box_rows = 3, box_cols = 3;  ///< of a box

  int cells() const { return size * size; }
  bool operator==(const SudokuShape&) const = default;
};

/// Usage error unless size is 4, 6 or 9.
SudokuShape sudoku_shape(int size);
SudokuShape sudoku_shape(const PuzzleLayout& layout);
PuzzleLayout layout_of(const SudokuShape& shape);

inline constexpr std::size_t kMostSudokuCells = 81;

/// Row by row; 0 is a blank. Cells beyond the shape's are 0.
using SudokuGrid = std::array<std::uint8_t, kMostSudokuCells>;

/// No digit twice in a row, column or box, and no blank.
bool is_solution(const SudokuShape& shape, const SudokuGrid& grid);

/// out[r][c] = digits[source[rows[r]][columns[c]]], after an optional transposition, as in the
/// original.
struct SudokuSymmetry {
  bool transpose = false;              ///< applied first
  std::array<std::uint8_t, 9> rows{};  ///< bands in any order, rows in any order within them
  std::array<std::uint8_t, 9> columns{};
  std::array<std::uint8_t, 10> digits{};  ///< digits[0] is 0
};

SudokuSymmetry identity_symmetry();
/// Never transposes where boxes are not square.
SudokuSymmetry random_symmetry(const SudokuShape& shape, const Random& random);
/// The source cell of each cell of the result.
std::vector<std::size_t> symmetry_sources(const SudokuShape& shape, const SudokuSymmetry& symmetry);
SudokuGrid transformed(const SudokuShape& shape, const SudokuGrid& grid,
                       const SudokuSymmetry& symmetry);

struct SudokuPuzzle {
  SudokuGrid puzzle{}, solution{};
  std::int64_t backtracks = 0;
  int clues = 0;
};

/// Starts from a full grid and removes clues in random order as long as the solution stays unique,
/// until `clues` are left or no more can be removed.
SudokuPuzzle make_sudoku(const SudokuShape& shape, int clues, const Random& random);

/// "12.4...": all cells in one line.
std::string sudoku_text(const SudokuShape& shape, const SudokuGrid& grid);

/// Tokens: 1 is a blank, digit d is d + 1; 0 is padding.
std::vector<std::int32_t> sudoku_tokens(const SudokuShape& shape, const SudokuGrid& grid);
/// Input error for a token that is neither a blank nor a digit.
SudokuGrid sudoku_grid(const SudokuShape& shape, std::span<const std::int32_t> tokens);
PuzzleMetadata sudoku_metadata(const SudokuShape& shape);
/// Adds one example as a puzzle and group of its own.
void add_sudoku(PuzzleSet& set, const SudokuShape& shape, const SudokuPuzzle& made);

}  // namespace ubique::data
