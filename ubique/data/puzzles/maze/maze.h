// SPDX-License-Identifier: Apache-2.0
// Random mazes with a unique shortest path from start to goal. Tokens as in the original:
// 1 '#', 2 ' ', 3 'S', 4 'G', 5 'o' (the path, in labels only); 0 is padding.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ubique/base/numbers/random.h"
#include "ubique/data/puzzles/set/dihedral.h"
#include "ubique/data/puzzles/set/puzzle_set.h"

namespace ubique::data {

inline constexpr std::string_view kMazeTokens = "?# SGo";  ///< the character of each token

struct Maze {
  GridSize size;
  std::vector<std::int32_t> cells;   ///< tokens of the puzzle
  std::vector<std::int32_t> solved;  ///< the same with the path marked
  std::int64_t moves = 0;            ///< from start to goal
};

/// A shortest path.
struct MazePath {
  std::int64_t moves = -1;         ///< -1: there is no path
  int count = 0;                   ///< of shortest paths; 2 means two or more
  std::vector<std::size_t> cells;  ///< of one of them, with start and goal
};

/// Breadth first from the goal. Of several paths, the one that prefers up, then left, right, down
/// at each cell. Input error unless there is one start and one goal.
MazePath shortest_path(GridSize size, const std::vector<std::int32_t>& cells);

/// A tree of corridors, then walls opened as long as the shortest path stays unique and at least
/// `min_path` moves long. The cycles keep the maze from being solved by closing dead ends. Nothing
/// if this stream gives no path of that length.
std::optional<Maze> make_maze(GridSize size, std::int64_t min_path, const Random& random);

PuzzleMetadata maze_metadata(GridSize size);

}  // namespace ubique::data
