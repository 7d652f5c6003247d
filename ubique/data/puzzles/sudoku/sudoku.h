// SPDX-License-Identifier: Apache-2.0
// Sudokus of 4x4, 6x6 (boxes of 2 rows and 3 columns) and 9x9: solved, rated, made, and told apart
// up to symmetry. The same seed makes the same puzzles on every machine.
#pragma once

#include <array>
#include <compare>
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

struct SudokuSolved {
  int solutions = 0;            ///< found, at most the limit
  std::int64_t backtracks = 0;  ///< guesses that came to nothing
  SudokuGrid solution{};        ///< the first one found
};

/// Places what must stand in a cell (its only digit, or the only cell for a digit in a row, column
/// or box) and guesses at the cell with the fewest digits, the first of them in reading order.
/// Looks until `limit` solutions are found. With the limit of 2, a puzzle of one solution is
/// searched to its end, so its `backtracks` do not depend on how digits are named: 0 means that no
/// guess was needed, and that number is the difficulty everywhere here.
SudokuSolved solve_sudoku(const SudokuShape& shape, const SudokuGrid& puzzle, int limit = 2);

/// No digit twice in a row, column or box, and no blank.
bool is_solution(const SudokuShape& shape, const SudokuGrid& grid);

/// out[r][c] = digits[source[rows[r]][columns[c]]] after transposing, if so, as the original does.
struct SudokuSymmetry {
  bool transpose = false;              ///< first
  std::array<std::uint8_t, 9> rows{};  ///< bands in any order, rows in any order within them
  std::array<std::uint8_t, 9> columns{};
  std::array<std::uint8_t, 10> digits{};  ///< digits[0] is 0
};

SudokuSymmetry identity_symmetry();
/// Draws from `random` by index. Never transposes boxes that are not square.
SudokuSymmetry random_symmetry(const SudokuShape& shape, const Random& random);
/// The source cell of each cell.
std::vector<std::size_t> symmetry_places(const SudokuShape& shape, const SudokuSymmetry& symmetry);
SudokuGrid transformed(const SudokuShape& shape, const SudokuGrid& grid,
                       const SudokuSymmetry& symmetry);

/// Equal for two grids if and only if some symmetry turns one into the other. Blanks may be in it
/// for 4x4 and 6x6; a 9x9 grid must be full (Internal error): puzzles of that size are told apart
/// by their solutions, as more than 3 million arrangements of cells are too many to try.
SudokuGrid canonical_form(const SudokuShape& shape, const SudokuGrid& grid);

struct SudokuPuzzle {
  SudokuGrid puzzle{}, solution{};
  std::int64_t backtracks = 0;
  int clues = 0;
};

/// A full grid, then clues taken away in random order while the solution stays the only one, until
/// `clues` are left or no more can go.
SudokuPuzzle make_sudoku(const SudokuShape& shape, int clues, const Random& random);

/// Tokens: 1 is a blank, digit d is d + 1; 0 is padding.
std::vector<std::int32_t> sudoku_tokens(const SudokuShape& shape, const SudokuGrid& grid);
/// Input error for a token that is neither.
SudokuGrid sudoku_grid(const SudokuShape& shape, std::span<const std::int32_t> tokens);
PuzzleMetadata sudoku_metadata(const SudokuShape& shape);

}  // namespace ubique::data
