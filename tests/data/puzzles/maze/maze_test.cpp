// SPDX-License-Identifier: Apache-2.0
// Rotations and reflections, shortest paths, generated mazes and their data sets.
#include "ubique/data/puzzles/maze/maze.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "tests/base/scratch.h"
#include "ubique/data/puzzles/maze/maze_build.h"
#include "ubique/data/puzzles/use/puzzle_augment.h"
#include "ubique/data/puzzles/use/puzzle_text.h"

using namespace ubique;

namespace {

std::vector<std::int32_t> cells_of(const std::string& text) {
  return data::parse_puzzles(text, "maze")[0].tokens;
}

}  // namespace

TEST_CASE("dihedral: rotations and reflections are numbered as in the original, and undone") {
  const data::GridSize size{2, 3};  // 0 1 2 / 3 4 5
  using Places = std::vector<std::size_t>;
  CHECK(data::dihedral_sources(1, size) == Places{2, 5, 1, 4, 0, 3});
  CHECK(data::dihedral_sources(3, size) == Places{3, 0, 4, 1, 5, 2});
  CHECK(data::dihedral_sources(4, size) == Places{2, 1, 0, 5, 4, 3});
  CHECK(data::dihedral_sources(5, size) == Places{3, 4, 5, 0, 1, 2});
  CHECK(data::dihedral_sources(6, size) == Places{0, 3, 1, 4, 2, 5});
  CHECK(data::dihedral_sources(7, size) == Places{5, 2, 4, 1, 3, 0});
  for (int id = 0; id < 8; ++id) {
    CAPTURE(id);
    const auto there = data::dihedral_sources(id, size);
    const auto back = data::dihedral_sources(data::kDihedralInverse[static_cast<std::size_t>(id)],
                                             data::dihedral_size(id, size));
    Places both;
    for (const auto place : back) both.push_back(there[place]);
    Places same(6);
    std::iota(same.begin(), same.end(), std::size_t{0});
    CHECK(both == same);
  }
}

TEST_CASE("maze: the shortest path is found, and one is distinguished from several") {
  const auto one = data::shortest_path({3, 5}, cells_of("S   #\n### #\nG    \n"));
  CHECK(one.moves == 8);
  CHECK(one.count == 1);
  const auto several = data::shortest_path({3, 3}, cells_of("S  \n   \n  G\n"));
  CHECK(several.moves == 4);
  CHECK(several.count == 2);
  CHECK(several.cells == std::vector<std::size_t>{0, 1, 2, 5, 8});
  CHECK(data::shortest_path({1, 3}, cells_of("S#G\n")).moves == -1);
}

TEST_CASE("maze: generated mazes have one long shortest path, the same for the same seed") {
  for (const auto size : {data::GridSize{30, 30}, data::GridSize{9, 14}}) {
    const auto least = static_cast<std::int64_t>(size.rows * size.cols / 8);
    int made = 0, circles = 0;
    for (std::uint64_t i = 0; i < 12; ++i) {
      const auto maze = data::make_maze(size, least, Random(1).fork(i));
      if (!maze) continue;
      ++made;
      CHECK(maze->cells == data::make_maze(size, least, Random(1).fork(i))->cells);
      const auto path = data::shortest_path(size, maze->cells);
      CHECK(path.count == 1);
      CHECK(path.moves == maze->moves);
      CHECK(path.moves >= least);
      CHECK(std::count(maze->solved.begin(), maze->solved.end(), 5) == path.moves - 1);
      std::int64_t open = 0, doors = 0;
      for (std::size_t cell = 0; cell < maze->cells.size(); ++cell) {
        if (maze->cells[cell] == 1) continue;
        ++open;
        const auto right = (cell + 1) % size.cols != 0 && maze->cells[cell + 1] != 1;
        const auto down =
            cell + size.cols < maze->cells.size() && maze->cells[cell + size.cols] != 1;
        doors += (right ? 1 : 0) + (down ? 1 : 0);
      }
      circles += doors > open - 1 ? 1 : 0;  // a tree has one door fewer than cells
    }
    CHECK(made >= 9);
    CHECK(circles == made);
  }
}

TEST_CASE(
    "maze: sets have the requested size, without equivalent mazes, for any number of threads") {
  const data::MazeBuild options{.rows = 8, .cols = 8, .train = 20, .test = 10, .seed = 3};
  const auto one = data::build_mazes(options, 1), two = data::build_mazes(options, 2);
  CHECK(one.train.examples() == 20);
  CHECK(one.test.examples() == 10);
  CHECK(one.test.metadata.provenance["min_path"] == 8);
  std::set<std::vector<std::int32_t>> seen;
  for (const auto* set : {&one.train, &one.test}) {
    for (std::int64_t i = 0; i < set->examples(); ++i) {
      const auto cells = set->inputs.row(i);
      for (int id = 0; id < 8; ++id) {
        std::vector<std::int32_t> turned;
        for (const auto place : data::dihedral_sources(id, {8, 8})) turned.push_back(cells[place]);
        if (id > 0) CHECK_FALSE((turned != cells && seen.contains(turned)));
      }
      CHECK(seen.insert(cells).second);
      CHECK(data::shortest_path({8, 8}, cells).moves >= 8);
    }
  }
  for (std::int64_t i = 0; i < 20; ++i) CHECK(one.train.inputs.row(i) == two.train.inputs.row(i));
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Usage,
                       [] { data::build_mazes({.rows = 2, .cols = 2, .train = 900}); }),
      "different ones"));
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Usage, [] { data::build_mazes({.rows = 1, .cols = 9}); }),
      "got 1x9 cells"));
}

TEST_CASE("maze: augmentation keeps the path a path") {
  const auto splits = data::build_mazes({.rows = 6, .cols = 9, .train = 4, .test = 0});
  std::vector<std::int32_t> inputs(54), labels(54);
  std::set<std::vector<std::int32_t>> augmented;
  for (std::uint64_t i = 0; i < 30; ++i) {
    data::load_augmented(splits.train, 1, Random(1).fork(i), inputs, labels);
    augmented.insert(inputs);
    const auto path = data::shortest_path({6, 9}, inputs);
    CHECK(path.count == 1);
    for (const auto cell : path.cells) CHECK(labels[cell] >= 3);
    CHECK(std::count(labels.begin(), labels.end(), 5) == path.moves - 1);
  }
  CHECK(augmented.size() == 4);  // not square: identity, 180 degrees, two reflections
}
