// SPDX-License-Identifier: Apache-2.0
// Puzzles and answers checked by the rules.
#include "ubique/data/puzzles/use/puzzle_check.h"

#include "tests/base/scratch.h"
#include "ubique/data/puzzles/sudoku/sudoku.h"
#include "ubique/data/puzzles/use/puzzle_text.h"

using namespace ubique;

namespace {

const data::PuzzleLayout kFour = data::layout_of(data::sudoku_shape(4));
const data::PuzzleLayout kFive = {data::PuzzleKind::Maze, 5, 5};

std::vector<std::int32_t> four(const std::string& text) {
  return data::parse_puzzles(text, "x", kFour)[0].tokens;
}

std::vector<std::int32_t> maze(const std::string& text) {
  std::vector<std::int32_t> tokens;
  for (const char c : text)
    tokens.push_back(static_cast<std::int32_t>(std::string("?# SGo").find(c)));
  return tokens;
}

}  // namespace

TEST_CASE("puzzle check: a repeated digit is reported with its cells") {
  CHECK(data::broken_rule(kFour, four("12......2....4..")).empty());
  CHECK(data::broken_rule(kFour, four("1..1............")) ==
        "1 stands twice in row 1, in columns 1 and 4");
  CHECK(data::broken_rule(kFour, four("...3.......3....")) ==
        "3 stands twice in column 4, in rows 1 and 3");
  CHECK(data::broken_rule(kFour, four("..........4....4")) ==
        "4 stands twice in one box, in row 3, column 3 and row 4, column 4");
}

TEST_CASE("puzzle check: a sudoku's answer keeps the clues and repeats no digit") {
  const auto puzzle = four("1.3.............");
  const auto valid = [&](const std::string& answer) {
    return data::obeys_rules(kFour, puzzle, four(answer)).value();
  };
  CHECK(valid("1234341221434321"));
  CHECK_FALSE(valid("2134341212434321"));  // 1 was given
  CHECK_FALSE(valid("1234341221434322"));  // 2 twice
  CHECK_FALSE(valid("12343412214343.1"));  // not full
  auto strange = four("1234341221434321");
  strange[15] = 0;
  CHECK_FALSE(data::obeys_rules(kFour, puzzle, strange).value());
}

TEST_CASE("puzzle check: a sudoku with too few clues has several solutions") {
  CHECK(data::has_several_solutions(kFour, four(std::string(16, '.'))) == true);
  CHECK(data::has_several_solutions(kFour, four("1.3.............")) == true);
  CHECK(data::has_several_solutions(kFour, four("1234341221434321")) == false);
  CHECK(data::has_several_solutions(kFour, four("12343412214343..")) == false);
  CHECK_FALSE(data::has_several_solutions(kFive, maze("######S  ##   ##  G######")).has_value());
}

TEST_CASE("puzzle check: a maze's answer is one shortest path") {
  CHECK(data::broken_rule(kFive, maze("######S # ## # ## #G#####")) == "no path leads from S to G");
  const auto open = maze("######S  ##   ##  G######");
  CHECK(data::broken_rule(kFive, open).empty());
  const auto solves = [&](const std::string& answer) {
    return data::obeys_rules(kFive, open, maze(answer)).value();
  };
  CHECK(solves("######Soo##  o##  G######"));
  CHECK(solves("######S  ##oo ## oG######"));
  CHECK_FALSE(solves("######S o##o o##  G######"));  // a gap
  CHECK_FALSE(solves("######Soo##ooo##  G######"));  // marked beside the path
  CHECK_FALSE(solves("######S  ##   ##  G######"));  // nothing marked
  CHECK_FALSE(solves("######Soo##  o##  oo#####"));  // the goal is gone
  // There are shorter paths.
  const auto wide = maze("######S G##   ##   ######");
  CHECK(data::obeys_rules(kFive, wide, maze("######SoG##   ##   ######")).value());
  CHECK_FALSE(data::obeys_rules(kFive, wide, maze("######S G##ooo##   ######")).value());
}

TEST_CASE("puzzle check: other puzzles have no known rules") {
  const data::PuzzleLayout arc{data::PuzzleKind::Arc, 30, 30};
  const std::vector<std::int32_t> grid(900, 2);
  CHECK(data::broken_rule(arc, grid).empty());
  CHECK_FALSE(data::obeys_rules(arc, grid, grid).has_value());
}
