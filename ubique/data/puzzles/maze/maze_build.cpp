// SPDX-License-Identifier: Apache-2.0
// Generates candidates on several threads and keeps those that differ from earlier ones.
#include "ubique/data/puzzles/maze/maze_build.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/data/puzzles/maze/maze.h"
#include "ubique/data/puzzles/set/distinct.h"

namespace ubique::data {
namespace {

struct KeyedMaze {
  std::string key;
  Maze maze;
};

/// The smallest text of the maze among its eight rotations and reflections.
std::string maze_key(const Maze& maze) {
  std::string smallest;
  for (int id = 0; id < 8; ++id) {
    const auto size = dihedral_size(id, maze.size);
    auto text = fmt::format("{}x{}:", size.rows, size.cols);
    for (const auto source : dihedral_sources(id, maze.size)) {
      text += kMazeTokens[static_cast<std::size_t>(maze.cells[source])];
    }
    if (id == 0 || text < smallest) smallest = text;
  }
  return smallest;
}

Json provenance_of(const MazeBuild& options) {
  auto json = layout_json({PuzzleKind::Maze, options.rows, options.cols});
  json["train"] = options.train;
  json["test"] = options.test;
  json["seed"] = options.seed;
  json["min_path"] = options.min_path;
  json["version"] = 1;  // incremented when the same options give other mazes
  return json;
}

MazeBuild checked_mazes(MazeBuild options) {
  check(options.rows >= 2 && options.rows <= 256 && options.cols >= 2 && options.cols <= 256,
        ErrorKind::Usage, "[data.maze] got {}x{} cells, expected 2 to 256 a side.", options.rows,
        options.cols);
  constexpr std::int64_t kMost = 10'000'000;
  check(options.train >= 1 && options.train <= kMost && options.test >= 0 && options.test <= kMost,
        ErrorKind::Usage,
        "[data.maze] got {} mazes to train and {} to test with; expected 1 to {} and 0 to {}.",
        options.train, options.test, kMost, kMost);
  const auto cells = std::int64_t{options.rows} * options.cols;
  if (options.min_path < 0) options.min_path = std::max<std::int64_t>(1, cells / 8);
  check(options.min_path < cells, ErrorKind::Usage,
        "[data.maze] no path has {} moves in {} cells; expected fewer.", options.min_path, cells);
  return options;
}

}  // namespace

Json build_provenance(const MazeBuild& options) { return provenance_of(checked_mazes(options)); }

PuzzleSplits build_mazes(const MazeBuild& asked, int threads, const PuzzleProgress& progress) {
  const auto options = checked_mazes(asked);
  const GridSize size{static_cast<std::size_t>(options.rows),
                      static_cast<std::size_t>(options.cols)};
  const auto total = options.train + options.test;
  const Random seed(options.seed);
  const auto made = collect_distinct<KeyedMaze>(
      total, threads,
      [&](std::uint64_t index) -> std::optional<KeyedMaze> {
        auto maze = make_maze(size, options.min_path, seed.fork(index));
        if (!maze) return std::nullopt;
        auto key = maze_key(*maze);
        return KeyedMaze{std::move(key), std::move(*maze)};
      },
      progress);
  check(static_cast<std::int64_t>(made.size()) == total, ErrorKind::Usage,
        "[data.maze] {} mazes of {}x{} were wanted, and only {} different ones with a path of at "
        "least {} moves were found. Ask for fewer or for shorter paths.",
        total, options.rows, options.cols, made.size(), options.min_path);
  auto metadata = maze_metadata(size);
  metadata.provenance = provenance_of(options);
  PuzzleSplits splits{empty_puzzle_set(metadata), empty_puzzle_set(metadata)};
  std::int64_t taken = 0;
  for (const auto index : seed.permutation(total)) {  // shuffled, as for sudokus
    const auto& maze = made[static_cast<std::size_t>(index)].maze;
    auto& set = taken++ < options.train ? splits.train : splits.test;
    add_example(set, maze.cells, maze.solved);
    end_puzzle(set, 0);
    end_group(set);
  }
  return splits;
}

}  // namespace ubique::data
