// SPDX-License-Identifier: Apache-2.0
// Mazes with one shortest way from start to goal, made from a seed. Tokens as in the original:
// 1 '#', 2 ' ', 3 'S', 4 'G', 5 'o' (the way, in labels only); 0 is padding.
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
  std::vector<std::int32_t> cells;   ///< tokens: what a person is given
  std::vector<std::int32_t> solved;  ///< the same with the way marked
  std::int64_t moves = 0;            ///< from start to goal
};

/// How many moves the shortest way takes and how many shortest ways there are (at most 2: several).
struct MazeWay {
  std::int64_t moves = -1;  ///< -1: there is none
  int ways = 0;
  std::vector<std::size_t> cells;  ///< of one such way, start and goal among them
};

/// Breadth first from the goal; of several ways the one that leaves each cell upwards if it can,
/// else leftwards, rightwards, downwards. Input error unless there is one start and one goal.
MazeWay shortest_way(GridSize size, const std::vector<std::int32_t>& cells);

/// A tree of corridors, then walls opened where the shortest way stays the only one and no shorter
/// than `min_path`: there are circles, so that closing dead ends does not find the way. Nothing if
/// this stream has no way of that length in it.
std::optional<Maze> make_maze(GridSize size, std::int64_t min_path, const Random& random);

PuzzleMetadata maze_metadata(GridSize size);

}  // namespace ubique::data
