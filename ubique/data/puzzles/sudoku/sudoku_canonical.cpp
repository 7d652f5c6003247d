// SPDX-License-Identifier: Apache-2.0
// The canonical form is the lexicographically smallest of all equivalent grids. For a full 9x9 grid
// its first row is 1 to 9, so choosing a source row and a column order fixes the digits; the other
// rows follow by sorting, and 2 * 9 * 1296 candidates are enough.
#include "ubique/data/puzzles/sudoku/sudoku_canonical.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "ubique/base/error.h"

namespace ubique::data {
namespace {

using Lines = std::array<std::uint8_t, 9>;
using Row9 = std::array<std::uint8_t, 9>;

/// All orders of lines that keep groups of `in_group` together.
std::vector<Lines> line_orders(int size, int in_group) {
  std::vector<Lines> orders;
  Lines order{};
  std::iota(order.begin(), order.begin() + size, std::uint8_t{0});
  do {
    bool together = true;
    for (int i = 0; i < size; ++i) {
      const auto line = static_cast<std::size_t>(i);
      const auto first = static_cast<std::size_t>(i / in_group * in_group);
      together = together && order[line] / in_group == order[first] / in_group;
    }
    if (together) orders.push_back(order);
  } while (std::next_permutation(order.begin(), order.begin() + size));
  return orders;
}

SudokuGrid transposed(const SudokuGrid& grid, int size) {
  SudokuGrid out{};
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < size; ++column) {
      out[static_cast<std::size_t>(column * size + row)] =
          grid[static_cast<std::size_t>(row * size + column)];
    }
  }
  return out;
}

/// Cells in this order, digits renumbered by first appearance, into `out`. Returns whether the
/// result is smaller than `best`; stops at the first cell that decides against it.
bool renamed_before(const SudokuGrid& grid, std::size_t size, const Lines& rows,
                    const Lines& columns, const SudokuGrid& best, SudokuGrid& out) {
  std::array<std::uint8_t, 10> names{};
  std::uint8_t named = 0;
  bool smaller = false;
  for (std::size_t cell = 0; cell < size * size; ++cell) {
    const auto digit = grid[rows[cell / size] * size + columns[cell % size]];
    if (digit != 0 && names[digit] == 0) names[digit] = ++named;
    out[cell] = names[digit];
    if (!smaller && out[cell] > best[cell]) return false;
    smaller = smaller || out[cell] < best[cell];
  }
  return smaller;
}

SudokuGrid smallest_equivalent(const SudokuShape& shape, const SudokuGrid& grid) {
  const auto rows = line_orders(shape.size, shape.box_rows);
  const auto columns = line_orders(shape.size, shape.box_cols);
  const auto size = static_cast<std::size_t>(shape.size);
  SudokuGrid best, tried{};
  best.fill(0);
  std::fill_n(best.begin(), shape.cells(), std::uint8_t{255});
  const bool square = shape.box_rows == shape.box_cols;
  for (int turn = 0; turn < (square ? 2 : 1); ++turn) {
    const auto source = turn == 0 ? grid : transposed(grid, shape.size);
    for (const auto& row_order : rows) {
      for (const auto& column_order : columns) {
        if (renamed_before(source, size, row_order, column_order, best, tried)) best = tried;
      }
    }
  }
  return best;
}

/// One choice of first row and column order for a full 9x9 grid. Gives its rows one by one, so that
/// the caller can stop as soon as they exceed the best.
class Candidate9x9 {
 public:
  Candidate9x9(const SudokuGrid& grid, std::size_t top, const Lines& columns)
      : grid_(grid), columns_(columns), band_(top / 3) {
    for (std::size_t column = 0; column < 9; ++column) {
      names_[grid_[top * 9 + columns_[column]]] = static_cast<std::uint8_t>(column + 1);
    }
    rest_ = {band_ * 3 + (top + 1) % 3, band_ * 3 + (top + 2) % 3};
    if (first_of(rest_[1]) < first_of(rest_[0])) std::swap(rest_[0], rest_[1]);
  }

  /// Orders the rows of the two other bands.
  void order_others() {
    std::array<std::array<std::size_t, 3>, 2> bands{};
    for (std::size_t other = 0; other < 2; ++other) {
      auto& rows = bands[other];
      const auto band = (band_ + 1 + other) % 3;
      rows = {band * 3, band * 3 + 1, band * 3 + 2};
      std::sort(rows.begin(), rows.end(),
                [&](std::size_t a, std::size_t b) { return first_of(a) < first_of(b); });
    }
    if (first_of(bands[1][0]) < first_of(bands[0][0])) std::swap(bands[0], bands[1]);
    for (std::size_t i = 0; i < 6; ++i) others_[i] = bands[i / 3][i % 3];
  }

  /// Row number 1 to 8 of the result; from 3 on after order_others().
  Row9 row(std::size_t number) const {
    const auto source = number < 3 ? rest_[number - 1] : others_[number - 3];
    Row9 out{};
    for (std::size_t column = 0; column < 9; ++column) {
      out[column] = names_[grid_[source * 9 + columns_[column]]];
    }
    return out;
  }

 private:
  std::uint8_t first_of(std::size_t row) const { return names_[grid_[row * 9 + columns_[0]]]; }

  const SudokuGrid& grid_;
  const Lines& columns_;
  std::size_t band_;
  std::array<std::uint8_t, 10> names_{};
  std::array<std::size_t, 2> rest_{};
  std::array<std::size_t, 6> others_{};
};

void keep_smaller(Candidate9x9& candidate, SudokuGrid& best) {
  bool smaller = false;
  for (std::size_t number = 1; number < 9; ++number) {
    if (number == 3) candidate.order_others();
    const auto row = candidate.row(number);
    const auto best_row = best.begin() + static_cast<std::ptrdiff_t>(number) * 9;
    if (!smaller) {
      const auto order =
          std::lexicographical_compare_three_way(row.begin(), row.end(), best_row, best_row + 9);
      if (order > 0) return;
      smaller = order < 0;
    }
    if (smaller) std::copy(row.begin(), row.end(), best_row);
  }
}

SudokuGrid smallest_equivalent_9x9(const SudokuGrid& grid) {
  static const auto kColumns = line_orders(9, 3);
  SudokuGrid best;
  best.fill(255);
  std::iota(best.begin(), best.begin() + 9, std::uint8_t{1});
  for (const auto& source : {grid, transposed(grid, 9)}) {
    for (std::size_t top = 0; top < 9; ++top) {
      for (const auto& columns : kColumns) {
        Candidate9x9 candidate(source, top, columns);
        keep_smaller(candidate, best);
      }
    }
  }
  return best;
}

}  // namespace

SudokuGrid canonical_form(const SudokuShape& shape, const SudokuGrid& grid) {
  if (shape.size != 9) return smallest_equivalent(shape, grid);
  check(std::find(grid.begin(), grid.end(), std::uint8_t{0}) == grid.end(), ErrorKind::Internal,
        "[data.sudoku] a 9x9 grid with blanks has no canonical form here.");
  return smallest_equivalent_9x9(grid);
}

std::string sudoku_key(const SudokuShape& shape, const SudokuPuzzle& made) {
  const auto form = canonical_form(shape, shape.size == 9 ? made.solution : made.puzzle);
  return {form.begin(), form.end()};
}

}  // namespace ubique::data
