// SPDX-License-Identifier: Apache-2.0
// The rules of sudokus and mazes.
#include "ubique/data/puzzles/use/puzzle_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ubique/data/puzzles/maze/maze.h"
#include "ubique/data/puzzles/sudoku/sudoku.h"
#include "ubique/data/puzzles/sudoku/sudoku_solver.h"

namespace ubique::data {
namespace {

constexpr std::int32_t kSudokuBlank = 1, kMazeOpen = 2, kMazePath = 5;

struct CellUnits {
  int row = 0, col = 0, box = 0;
};

CellUnits units_of(const PuzzleLayout& layout, int cell) {
  const int row = cell / layout.cols, col = cell % layout.cols;
  return {row, col,
          row / layout.box_rows * (layout.cols / layout.box_cols) + col / layout.box_cols};
}

/// Describes the unit that two cells with the same digit share; empty if they share none.
std::string clash(const CellUnits& a, const CellUnits& b) {
  if (a.row == b.row) {
    return fmt::format("in row {}, in columns {} and {}", a.row + 1, a.col + 1, b.col + 1);
  }
  if (a.col == b.col) {
    return fmt::format("in column {}, in rows {} and {}", a.col + 1, a.row + 1, b.row + 1);
  }
  if (a.box != b.box) return "";
  return fmt::format("in one box, in row {}, column {} and row {}, column {}", a.row + 1, a.col + 1,
                     b.row + 1, b.col + 1);
}

std::string sudoku_clash(const PuzzleLayout& layout, std::span<const std::int32_t> tokens) {
  const int cells = static_cast<int>(tokens.size());
  for (int i = 0; i < cells; ++i) {
    const auto token = tokens[static_cast<std::size_t>(i)];
    if (token <= kSudokuBlank) continue;
    for (int j = i + 1; j < cells; ++j) {
      if (tokens[static_cast<std::size_t>(j)] != token) continue;
      const auto how = clash(units_of(layout, i), units_of(layout, j));
      if (!how.empty()) return fmt::format("{} stands twice {}", token - kSudokuBlank, how);
    }
  }
  return "";
}

std::vector<std::int32_t> cells_of(std::span<const std::int32_t> tokens) {
  return {tokens.begin(), tokens.end()};
}

GridSize grid_of(const PuzzleLayout& layout) {
  return {static_cast<std::size_t>(layout.rows), static_cast<std::size_t>(layout.cols)};
}

bool solves_sudoku(const PuzzleLayout& layout, std::span<const std::int32_t> puzzle,
                   std::span<const std::int32_t> answer) {
  for (std::size_t i = 0; i < puzzle.size(); ++i) {
    const bool digit = answer[i] > kSudokuBlank && answer[i] <= kSudokuBlank + layout.rows;
    if (!digit || (puzzle[i] > kSudokuBlank && puzzle[i] != answer[i])) return false;
  }
  return sudoku_clash(layout, answer).empty();
}

/// With only the marked cells open, the shortest path must use all of them, and be as short as the
/// one in the puzzle.
bool solves_maze(const PuzzleLayout& layout, std::span<const std::int32_t> puzzle,
                 std::span<const std::int32_t> answer) {
  auto marked = cells_of(puzzle);
  for (std::size_t i = 0; i < puzzle.size(); ++i) {
    const bool path = puzzle[i] == kMazeOpen && answer[i] == kMazePath;
    if (!path && answer[i] != puzzle[i]) return false;
    if (puzzle[i] == kMazeOpen && !path) marked[i] = 1;  // a wall
  }
  const auto cells = std::ranges::count(answer, kMazePath);
  const auto size = grid_of(layout);
  return shortest_path(size, marked).moves == cells + 1 &&
         shortest_path(size, cells_of(puzzle)).moves == cells + 1;
}

}  // namespace

std::string broken_rule(const PuzzleLayout& layout, std::span<const std::int32_t> puzzle) {
  if (layout.kind == PuzzleKind::Sudoku) return sudoku_clash(layout, puzzle);
  if (layout.kind != PuzzleKind::Maze) return "";
  return shortest_path(grid_of(layout), cells_of(puzzle)).moves < 0 ? "no path leads from S to G"
                                                                    : "";
}

std::optional<bool> obeys_rules(const PuzzleLayout& layout, std::span<const std::int32_t> puzzle,
                                std::span<const std::int32_t> answer) {
  if (layout.kind == PuzzleKind::Sudoku) return solves_sudoku(layout, puzzle, answer);
  if (layout.kind == PuzzleKind::Maze) return solves_maze(layout, puzzle, answer);
  return std::nullopt;
}

std::optional<bool> has_several_solutions(const PuzzleLayout& layout,
                                          std::span<const std::int32_t> puzzle) {
  constexpr std::int64_t kMostBacktracks = 100000;  // a fraction of a second; few puzzles need 1000
  if (layout.kind != PuzzleKind::Sudoku) return std::nullopt;
  const auto shape = sudoku_shape(layout);
  const auto found = solve_sudoku(shape, sudoku_grid(shape, puzzle), 2, kMostBacktracks);
  if (found.solutions < 2 && found.backtracks >= kMostBacktracks) return std::nullopt;
  return found.solutions > 1;
}

}  // namespace ubique::data
