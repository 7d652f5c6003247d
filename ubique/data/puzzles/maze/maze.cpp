// SPDX-License-Identifier: Apache-2.0
// Corridors grow cell by cell: a wall is opened if it touches exactly one open cell, so that the
// open cells stay a tree, mostly at the newest end, so that corridors are long.
#include "ubique/data/puzzles/maze/maze.h"

#include <algorithm>
#include <array>
#include <limits>

#include "ubique/base/error.h"

namespace ubique::data {
namespace {

constexpr std::int32_t kWall = 1, kOpen = 2, kStart = 3, kGoal = 4, kPath = 5;
constexpr auto kFar = std::numeric_limits<std::int32_t>::max();

/// Up to four neighbours: up, left, right, down.
struct MazeNeighbours {
  std::array<std::size_t, 4> cells{};
  std::size_t count = 0;
  const std::size_t* begin() const { return cells.data(); }
  const std::size_t* end() const { return cells.data() + count; }
};

MazeNeighbours neighbours(GridSize size, std::size_t cell) {
  MazeNeighbours found;
  const auto row = cell / size.cols, col = cell % size.cols;
  if (row > 0) found.cells[found.count++] = cell - size.cols;
  if (col > 0) found.cells[found.count++] = cell - 1;
  if (col + 1 < size.cols) found.cells[found.count++] = cell + 1;
  if (row + 1 < size.rows) found.cells[found.count++] = cell + size.cols;
  return found;
}

/// Sequential draws from a stream.
struct MazeDraws {
  Random random;
  std::uint64_t drawn = 0;

  std::size_t below(std::size_t bound) { return random.below(drawn++, bound); }
  bool chance(double probability) { return random.bernoulli(drawn++, probability); }
};

std::vector<std::int32_t> distances(GridSize size, const std::vector<std::int32_t>& cells,
                                    std::size_t from) {
  std::vector<std::int32_t> moves(cells.size(), kFar);
  std::vector<std::size_t> queue{from};
  moves[from] = 0;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    for (const auto near : neighbours(size, queue[next])) {
      if (cells[near] == kWall || moves[near] != kFar) continue;
      moves[near] = moves[queue[next]] + 1;
      queue.push_back(near);
    }
  }
  return moves;
}

std::size_t open_around(GridSize size, const std::vector<std::int32_t>& cells, std::size_t cell) {
  std::size_t open = 0;
  for (const auto near : neighbours(size, cell)) open += cells[near] != kWall ? 1 : 0;
  return open;
}

std::vector<std::int32_t> grow_corridors(GridSize size, MazeDraws& draws) {
  std::vector<std::int32_t> cells(size.rows * size.cols, kWall);
  std::vector<std::size_t> ends{draws.below(cells.size())};
  cells[ends.front()] = kOpen;
  while (!ends.empty()) {
    const auto end = draws.chance(0.9) ? ends.size() - 1 : draws.below(ends.size());
    std::vector<std::size_t> free;
    for (const auto near : neighbours(size, ends[end])) {
      if (cells[near] == kWall && open_around(size, cells, near) == 1) free.push_back(near);
    }
    if (free.empty()) {
      ends.erase(ends.begin() + static_cast<std::ptrdiff_t>(end));
      continue;
    }
    const auto opened = free[draws.below(free.size())];
    cells[opened] = kOpen;
    ends.push_back(opened);
  }
  return cells;
}

/// Marks a random start and a random goal at least `min_path` moves away; false if none is found.
bool place_ends(GridSize size, std::int64_t min_path, std::vector<std::int32_t>& cells,
                MazeDraws& draws) {
  std::vector<std::size_t> open;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    if (cells[cell] == kOpen) open.push_back(cell);
  }
  for (int attempt = 0; attempt < 8 && !open.empty(); ++attempt) {
    const auto start = open[draws.below(open.size())];
    const auto moves = distances(size, cells, start);
    std::vector<std::size_t> far;
    for (const auto cell : open) {
      if (cell != start && moves[cell] != kFar && moves[cell] >= min_path) far.push_back(cell);
    }
    if (far.empty()) continue;
    cells[start] = kStart;
    cells[far[draws.below(far.size())]] = kGoal;
    return true;
  }
  return false;
}

/// Opens up to a twentieth of the cells between corridors, where the path stays unique and long.
void open_cycles(GridSize size, std::int64_t min_path, std::vector<std::int32_t>& cells,
                 const Random& random) {
  auto left = cells.size() / 20;
  for (const auto index : random.permutation(static_cast<std::int64_t>(cells.size()))) {
    if (left == 0) return;
    const auto cell = static_cast<std::size_t>(index);
    if (cells[cell] != kWall || open_around(size, cells, cell) < 2) continue;
    cells[cell] = kOpen;
    const auto path = shortest_path(size, cells);
    if (path.count == 1 && path.moves >= min_path) {
      --left;
    } else {
      cells[cell] = kWall;
    }
  }
}

std::size_t only_cell(const std::vector<std::int32_t>& cells, std::int32_t token) {
  const auto found = std::count(cells.begin(), cells.end(), token);
  check(found == 1, ErrorKind::Input, "[data.maze] got {} '{}', expected one.", found,
        kMazeTokens[static_cast<std::size_t>(token)]);
  return static_cast<std::size_t>(std::find(cells.begin(), cells.end(), token) - cells.begin());
}

}  // namespace

MazePath shortest_path(GridSize size, const std::vector<std::int32_t>& cells) {
  const auto start = only_cell(cells, kStart), goal = only_cell(cells, kGoal);
  const auto moves = distances(size, cells, goal);
  MazePath path;
  if (moves[start] == kFar) return path;
  path.moves = moves[start];
  path.count = 1;
  // If there are several shortest paths, they branch off at some cell of this one.
  for (auto cell = start;;) {
    path.cells.push_back(cell);
    if (cell == goal) return path;
    const auto here = cell;
    int nearer = 0;
    for (const auto near : neighbours(size, here)) {
      if (moves[near] != moves[here] - 1) continue;
      if (nearer++ == 0) cell = near;
    }
    if (nearer > 1) path.count = 2;
  }
}

std::optional<Maze> make_maze(GridSize size, std::int64_t min_path, const Random& random) {
  MazeDraws draws{random.fork(0)};
  Maze maze{size, grow_corridors(size, draws), {}, 0};
  if (!place_ends(size, min_path, maze.cells, draws)) return std::nullopt;
  // Cycles shorten the path down to a floor, drawn per maze so that lengths differ.
  const auto spare = shortest_path(size, maze.cells).moves - min_path;
  const auto floor =
      min_path + static_cast<std::int64_t>(draws.below(static_cast<std::size_t>(spare) + 1));
  open_cycles(size, floor, maze.cells, random.fork(1));
  const auto path = shortest_path(size, maze.cells);
  maze.moves = path.moves;
  maze.solved = maze.cells;
  for (const auto cell : path.cells) {
    if (maze.solved[cell] == kOpen) maze.solved[cell] = kPath;
  }
  return maze;
}

PuzzleMetadata maze_metadata(GridSize size) {
  PuzzleMetadata metadata;
  metadata.vocab_size = static_cast<std::int64_t>(kMazeTokens.size());
  metadata.seq_len = static_cast<std::int64_t>(size.rows * size.cols);
  metadata.layout = {PuzzleKind::Maze, static_cast<int>(size.rows), static_cast<int>(size.cols)};
  metadata.provenance = layout_json(metadata.layout);
  return metadata;
}

}  // namespace ubique::data
