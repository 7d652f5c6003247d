// SPDX-License-Identifier: Apache-2.0
// Shapes, symmetries, generation and tokens of sudokus.
#include "ubique/data/puzzles/sudoku/sudoku.h"

#include <algorithm>
#include <numeric>

#include "ubique/base/error.h"
#include "ubique/data/puzzles/sudoku/sudoku_solver.h"

namespace ubique::data {
namespace {

/// A random order of groups, and of lines within each group; uses forks `first` and up.
std::array<std::uint8_t, 9> random_lines(int size, int in_group, const Random& random,
                                         std::uint64_t first) {
  std::array<std::uint8_t, 9> lines{};
  std::size_t next = 0;
  for (const auto group : random.fork(first).permutation(size / in_group)) {
    const auto within = random.fork(first + 1 + static_cast<std::uint64_t>(group));
    for (const auto line : within.permutation(in_group)) {
      lines[next++] = static_cast<std::uint8_t>(group * in_group + line);
    }
  }
  return lines;
}

}  // namespace

SudokuShape sudoku_shape(int size) {
  check(size == 4 || size == 6 || size == 9, ErrorKind::Usage,
        "[data.sudoku] no sudoku has {} digits here; expected 4, 6 or 9.", size);
  return size == 4 ? SudokuShape{4, 2, 2} : size == 6 ? SudokuShape{6, 2, 3} : SudokuShape{9, 3, 3};
}

SudokuShape sudoku_shape(const PuzzleLayout& layout) {
  const auto shape = sudoku_shape(layout.rows);
  check(layout.kind == PuzzleKind::Sudoku && layout.box_rows == shape.box_rows &&
            layout.box_cols == shape.box_cols,
        ErrorKind::Input, "[data.sudoku] got {}, expected a sudoku with boxes of {}x{}.",
        describe(layout), shape.box_rows, shape.box_cols);
  return shape;
}

PuzzleLayout layout_of(const SudokuShape& shape) {
  return {PuzzleKind::Sudoku, shape.size, shape.size, shape.box_rows, shape.box_cols};
}

bool is_solution(const SudokuShape& shape, const SudokuGrid& grid) {
  const bool full = std::none_of(grid.begin(), grid.begin() + shape.cells(),
                                 [](std::uint8_t digit) { return digit == 0; });
  return full && solve_sudoku(shape, grid, 1).solutions == 1;
}

SudokuSymmetry identity_symmetry() {
  SudokuSymmetry same;
  std::iota(same.rows.begin(), same.rows.end(), std::uint8_t{0});
  std::iota(same.columns.begin(), same.columns.end(), std::uint8_t{0});
  std::iota(same.digits.begin(), same.digits.end(), std::uint8_t{0});
  return same;
}

SudokuSymmetry random_symmetry(const SudokuShape& shape, const Random& random) {
  auto symmetry = identity_symmetry();
  symmetry.transpose = shape.box_rows == shape.box_cols && random.bernoulli(0, 0.5);
  const auto digits = random.fork(0).permutation(shape.size);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    symmetry.digits[i + 1] = static_cast<std::uint8_t>(digits[i] + 1);
  }
  symmetry.rows = random_lines(shape.size, shape.box_rows, random, 1);
  symmetry.columns = random_lines(shape.size, shape.box_cols, random, 8);
  return symmetry;
}

std::vector<std::size_t> symmetry_sources(const SudokuShape& shape,
                                          const SudokuSymmetry& symmetry) {
  const auto size = static_cast<std::size_t>(shape.size);
  std::vector<std::size_t> sources;
  sources.reserve(size * size);
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t column = 0; column < size; ++column) {
      const std::size_t from_row = symmetry.rows[row], from_column = symmetry.columns[column];
      sources.push_back(symmetry.transpose ? from_column * size + from_row
                                           : from_row * size + from_column);
    }
  }
  return sources;
}

SudokuGrid transformed(const SudokuShape& shape, const SudokuGrid& grid,
                       const SudokuSymmetry& symmetry) {
  SudokuGrid out{};
  std::size_t cell = 0;
  for (const auto source : symmetry_sources(shape, symmetry)) {
    out[cell++] = symmetry.digits[grid[source]];
  }
  return out;
}

SudokuPuzzle make_sudoku(const SudokuShape& shape, int clues, const Random& random) {
  SudokuPuzzle made;
  // The search favours some grids; a random symmetry removes that bias between cells.
  made.solution = transformed(shape, random_solution(shape, random.fork(0)),
                              random_symmetry(shape, random.fork(1)));
  made.puzzle = made.solution;
  made.clues = shape.cells();
  for (const auto cell : random.fork(2).permutation(shape.cells())) {
    if (made.clues <= clues) break;
    if (needs_clue(shape, made.puzzle, static_cast<std::size_t>(cell))) continue;
    made.puzzle[static_cast<std::size_t>(cell)] = 0;
    --made.clues;
  }
  made.backtracks = solve_sudoku(shape, made.puzzle).backtracks;
  return made;
}

std::string sudoku_text(const SudokuShape& shape, const SudokuGrid& grid) {
  std::string text;
  for (int cell = 0; cell < shape.cells(); ++cell) {
    const auto digit = grid[static_cast<std::size_t>(cell)];
    text += digit == 0 ? '.' : static_cast<char>('0' + digit);
  }
  return text;
}

std::vector<std::int32_t> sudoku_tokens(const SudokuShape& shape, const SudokuGrid& grid) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(shape.cells()));
  std::transform(grid.begin(), grid.begin() + shape.cells(), tokens.begin(),
                 [](std::uint8_t digit) { return digit + 1; });
  return tokens;
}

SudokuGrid sudoku_grid(const SudokuShape& shape, std::span<const std::int32_t> tokens) {
  check(tokens.size() == static_cast<std::size_t>(shape.cells()), ErrorKind::Input,
        "[data.sudoku] got {} tokens, expected {}.", tokens.size(), shape.cells());
  SudokuGrid grid{};
  for (std::size_t cell = 0; cell < tokens.size(); ++cell) {
    check(tokens[cell] >= 1 && tokens[cell] <= shape.size + 1, ErrorKind::Input,
          "[data.sudoku] token {} in cell {} is no digit; expected 1 (blank) to {}.", tokens[cell],
          cell, shape.size + 1);
    grid[cell] = static_cast<std::uint8_t>(tokens[cell] - 1);
  }
  return grid;
}

PuzzleMetadata sudoku_metadata(const SudokuShape& shape) {
  PuzzleMetadata metadata;
  metadata.vocab_size = shape.size + 2;
  metadata.seq_len = shape.cells();
  metadata.layout = layout_of(shape);
  metadata.provenance = layout_json(metadata.layout);
  return metadata;
}

void add_sudoku(PuzzleSet& set, const SudokuShape& shape, const SudokuPuzzle& made) {
  add_example(set, sudoku_tokens(shape, made.puzzle), sudoku_tokens(shape, made.solution));
  end_puzzle(set, 0);
  end_group(set);
}

}  // namespace ubique::data
