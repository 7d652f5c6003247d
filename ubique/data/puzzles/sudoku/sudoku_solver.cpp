// SPDX-License-Identifier: Apache-2.0
// Backtracking search on bit masks: bit d - 1 is digit d. Singles are placed in sweeps over the
// blank cells; only a guess copies the state.
#include "ubique/data/puzzles/sudoku/sudoku_solver.h"

#include <bit>

namespace ubique::data {
namespace {

using SudokuMask = std::uint16_t;

struct SudokuUnit {
  std::uint8_t row, column, box;
};
using SudokuUnits = std::array<SudokuUnit, kMostSudokuCells>;

/// Row, column and box of each cell.
const SudokuUnits& sudoku_units(const SudokuShape& shape) {
  static const auto kUnits = [] {
    std::array<SudokuUnits, 3> all{};
    for (const int size : {4, 6, 9}) {
      const auto one = sudoku_shape(size);
      for (int cell = 0; cell < one.cells(); ++cell) {
        const int row = cell / size, column = cell % size;
        const int box = row / one.box_rows * (size / one.box_cols) + column / one.box_cols;
        all[static_cast<std::size_t>(size) / 3 - 1][static_cast<std::size_t>(cell)] = {
            static_cast<std::uint8_t>(row), static_cast<std::uint8_t>(column),
            static_cast<std::uint8_t>(box)};
      }
    }
    return all;
  }();
  return kUnits[static_cast<std::size_t>(shape.size) / 3 - 1];
}

enum class Sweep { Dead, Changed, Stuck, Done };

/// For each row, column or box: digits that are candidates of one or more, and of two or more, of
/// its blank cells.
struct UnitCandidates {
  std::array<SudokuMask, 9> once{}, twice{};

  void add(std::size_t unit, SudokuMask digits) {
    twice[unit] = static_cast<SudokuMask>(twice[unit] | (once[unit] & digits));
    once[unit] = static_cast<SudokuMask>(once[unit] | digits);
  }
  SudokuMask alone(std::size_t unit, SudokuMask digits) const {
    return static_cast<SudokuMask>(digits & ~twice[unit]);
  }
};

class SudokuState {
 public:
  explicit SudokuState(const SudokuShape& shape)
      : units_(&sudoku_units(shape)),
        size_(static_cast<std::size_t>(shape.size)),
        all_(static_cast<SudokuMask>((1U << size_) - 1)) {
    for (std::size_t cell = 0; cell < size_ * size_; ++cell) {
      blanks_[count_++] = static_cast<std::uint8_t>(cell);
    }
  }

  /// False if the digit is not a candidate. The cell must be blank.
  bool place(std::size_t cell, SudokuMask digit) {
    const auto& unit = (*units_)[cell];
    if ((digit & free_digits(cell)) == 0) return false;
    rows_[unit.row] = static_cast<SudokuMask>(rows_[unit.row] | digit);
    columns_[unit.column] = static_cast<SudokuMask>(columns_[unit.column] | digit);
    boxes_[unit.box] = static_cast<SudokuMask>(boxes_[unit.box] | digit);
    grid_[cell] = static_cast<std::uint8_t>(std::countr_zero(digit) + 1);
    return true;
  }

  SudokuMask free_digits(std::size_t cell) const {
    const auto& unit = (*units_)[cell];
    const auto used = rows_[unit.row] | columns_[unit.column] | boxes_[unit.box];
    return static_cast<SudokuMask>(all_ & ~used & ~(cell == barred_cell_ ? barred_ : 0));
  }

  void bar(std::size_t cell, SudokuMask digit) { barred_cell_ = cell, barred_ = digit; }

  /// Places singles until none is left.
  Sweep settle() {
    for (;;) {
      const auto result = sweep();
      if (result != Sweep::Changed) return result;
    }
  }

  std::size_t guess_cell() const { return guess_; }
  const SudokuGrid& grid() const { return grid_; }

 private:
  // Naked singles are placed at once; the counts for hidden singles are valid only without any.
  Sweep sweep() {
    UnitCandidates rows, columns, boxes;
    bool changed = false;
    int fewest = 10;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const std::size_t cell = blanks_[i];
      if (grid_[cell] != 0) continue;
      const auto digits = free_digits(cell);
      if (digits == 0) return Sweep::Dead;
      const int choices = std::popcount(digits);
      if (choices == 1) {
        place(cell, digits);
        changed = true;
        continue;
      }
      blanks_[kept++] = static_cast<std::uint8_t>(cell);
      if (choices < fewest) fewest = choices, guess_ = cell;
      const auto& unit = (*units_)[cell];
      rows.add(unit.row, digits);
      columns.add(unit.column, digits);
      boxes.add(unit.box, digits);
    }
    count_ = kept;
    if (changed) return Sweep::Changed;
    if (count_ == 0) return Sweep::Done;
    return place_hidden(rows, columns, boxes);
  }

  Sweep place_hidden(const UnitCandidates& rows, const UnitCandidates& columns,
                     const UnitCandidates& boxes) {
    for (std::size_t unit = 0; unit < size_; ++unit) {  // a digit without any cell
      if ((rows.once[unit] | rows_[unit]) != all_) return Sweep::Dead;
      if ((columns.once[unit] | columns_[unit]) != all_) return Sweep::Dead;
      if ((boxes.once[unit] | boxes_[unit]) != all_) return Sweep::Dead;
    }
    bool changed = false;
    for (std::size_t i = 0; i < count_; ++i) {
      const std::size_t cell = blanks_[i];
      const auto& unit = (*units_)[cell];
      const auto digits = free_digits(cell);
      const auto alone = static_cast<SudokuMask>(rows.alone(unit.row, digits) |
                                                 columns.alone(unit.column, digits) |
                                                 boxes.alone(unit.box, digits));
      if (alone == 0) continue;
      if (!std::has_single_bit(alone)) return Sweep::Dead;
      place(cell, alone);
      changed = true;
    }
    return changed ? Sweep::Changed : Sweep::Stuck;
  }

  const SudokuUnits* units_;
  std::size_t size_;
  SudokuMask all_;
  std::array<SudokuMask, 9> rows_{}, columns_{}, boxes_{};  // digits placed there
  std::array<std::uint8_t, kMostSudokuCells> blanks_{};
  std::size_t count_ = 0, guess_ = 0;
  SudokuGrid grid_{};
  std::size_t barred_cell_ = kMostSudokuCells;
  SudokuMask barred_ = 0;
};

/// Depth-first search; counts solutions and backtracks.
struct SudokuSearch {
  int limit;
  const Random* random = nullptr;  ///< null: digits in ascending order
  std::int64_t most_backtracks = std::numeric_limits<std::int64_t>::max();
  std::uint64_t drawn = 0;
  SudokuSolved found{};

  /// Solutions found below this state.
  int descend(SudokuState& state) {
    const auto settled = state.settle();
    if (settled == Sweep::Dead) return 0;
    if (settled == Sweep::Done) {
      if (found.solutions++ == 0) found.solution = state.grid();
      return 1;
    }
    int below = 0;
    const auto cell = state.guess_cell();
    for (auto digits = state.free_digits(cell); digits != 0 && goes_on();) {
      const auto digit = pick(digits);
      digits = static_cast<SudokuMask>(digits & ~digit);
      auto next = state;
      next.place(cell, digit);
      const int solutions = descend(next);
      if (solutions == 0) ++found.backtracks;
      below += solutions;
    }
    return below;
  }

  bool goes_on() const { return found.solutions < limit && found.backtracks < most_backtracks; }

  SudokuMask pick(SudokuMask digits) {
    auto skipped = random == nullptr
                       ? 0
                       : random->below(drawn++, static_cast<std::uint64_t>(std::popcount(digits)));
    while (skipped-- > 0) digits = static_cast<SudokuMask>(digits & (digits - 1));
    return static_cast<SudokuMask>(digits & (~digits + 1U));
  }
};

bool place_clues(SudokuState& state, const SudokuShape& shape, const SudokuGrid& puzzle) {
  for (std::size_t cell = 0; cell < static_cast<std::size_t>(shape.cells()); ++cell) {
    if (puzzle[cell] == 0) continue;
    if (puzzle[cell] > shape.size) return false;
    if (!state.place(cell, static_cast<SudokuMask>(1U << (puzzle[cell] - 1U)))) return false;
  }
  return true;
}

}  // namespace

SudokuSolved solve_sudoku(const SudokuShape& shape, const SudokuGrid& puzzle, int limit,
                          std::int64_t most_backtracks) {
  SudokuState state(shape);
  SudokuSearch search{.limit = limit, .most_backtracks = most_backtracks};
  if (place_clues(state, shape, puzzle)) search.descend(state);
  return search.found;
}

SudokuGrid random_solution(const SudokuShape& shape, const Random& random) {
  SudokuState state(shape);
  SudokuSearch search{.limit = 1, .random = &random};
  search.descend(state);
  return search.found.solution;
}

bool needs_clue(const SudokuShape& shape, const SudokuGrid& puzzle, std::size_t cell) {
  auto without = puzzle;
  without[cell] = 0;
  SudokuState state(shape);
  state.bar(cell, static_cast<SudokuMask>(1U << (puzzle[cell] - 1U)));
  SudokuSearch search{.limit = 1};
  return place_clues(state, shape, without) && search.descend(state) > 0;
}

}  // namespace ubique::data
