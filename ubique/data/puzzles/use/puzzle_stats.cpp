// SPDX-License-Identifier: Apache-2.0
// Measures difficulty and counts it in bins.
#include "ubique/data/puzzles/use/puzzle_stats.h"

#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/parallel.h"
#include "ubique/data/puzzles/maze/maze.h"
#include "ubique/data/puzzles/sudoku/sudoku_solver.h"

namespace ubique::data {
namespace {

constexpr const char* kBacktracks = "backtracks";

void add_to_bins(std::vector<PuzzleBin>& bins, const std::vector<std::int64_t>& values,
                 std::int64_t low, std::int64_t high) {
  const auto first = std::lower_bound(values.begin(), values.end(), low);
  const auto last = std::upper_bound(values.begin(), values.end(), high);
  bins.push_back(
      {low == high ? std::to_string(low) : fmt::format("{}-{}", low, high), last - first});
}

}  // namespace

PuzzleStats measure_puzzles(const PuzzleSet& set, int threads, std::int64_t most) {
  const auto& layout = set.metadata.layout;
  PuzzleStats stats;
  if (layout.kind != PuzzleKind::Sudoku && layout.kind != PuzzleKind::Maze) return stats;
  const bool sudoku = layout.kind == PuzzleKind::Sudoku;
  const auto count = std::min(most, set.examples());
  stats.measure = sudoku ? kBacktracks : "moves";
  stats.values.resize(static_cast<std::size_t>(count));
  stats.clues.resize(sudoku ? static_cast<std::size_t>(count) : 0);
  parallel_for(count, threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      const auto index = static_cast<std::size_t>(i);
      const auto tokens = set.inputs.row(i * set.examples() / count);
      if (sudoku) {
        const auto shape = sudoku_shape(layout);
        stats.values[index] = solve_sudoku(shape, sudoku_grid(shape, tokens)).backtracks;
        stats.clues[index] = shape.cells() - std::count(tokens.begin(), tokens.end(), 1);
      } else {
        const GridSize size{static_cast<std::size_t>(layout.rows),
                            static_cast<std::size_t>(layout.cols)};
        stats.values[index] = shortest_path(size, tokens).moves;
      }
    }
  });
  std::sort(stats.values.begin(), stats.values.end());
  std::sort(stats.clues.begin(), stats.clues.end());
  return stats;
}

std::vector<PuzzleBin> difficulty_histogram(const PuzzleStats& stats) {
  std::vector<PuzzleBin> bins;
  if (stats.values.empty()) return bins;
  const auto most = stats.values.back();
  if (stats.measure == kBacktracks) {
    add_to_bins(bins, stats.values, 0, 0);
    for (std::int64_t low = 1; low <= most; low *= 4) {
      add_to_bins(bins, stats.values, low, low * 4 - 1);
    }
    return bins;
  }
  const auto least = stats.values.front();
  const auto width = (most - least) / 8 + 1;
  for (auto low = least; low <= most; low += width) {
    add_to_bins(bins, stats.values, low, std::min(most, low + width - 1));
  }
  return bins;
}

}  // namespace ubique::data
