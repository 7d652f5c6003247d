// SPDX-License-Identifier: Apache-2.0
// Puzzles parsed from text, and drawn.
#include "ubique/data/puzzles/use/puzzle_text.h"

#include "tests/base/scratch.h"
#include "ubique/data/puzzles/sudoku/sudoku.h"
#include "ubique/data/puzzles/use/puzzle_draw.h"

using namespace ubique;

namespace {

const std::string kNine =
    ".....2.56385...41.....1...9.94.5...7.3218....15.9..2...2.6.1...9718..6.3..8.2....";
const data::PuzzleLayout kNineLayout = data::layout_of(data::sudoku_shape(9));
const std::string kMaze = "#####\n#S #G\n# # .\n#   #\n#####\n";

std::string refused(const std::string& text, const std::optional<data::PuzzleLayout>& layout = {}) {
  return test::refusal_of(ErrorKind::Input, [&] { data::parse_puzzles(text, "my.txt", layout); });
}

std::string only_line(const std::string& text) {
  const auto puzzles = data::parse_puzzles(text, "my.txt");
  REQUIRE(puzzles.size() == 1);
  return data::puzzle_line(puzzles[0].layout, puzzles[0].tokens);
}

}  // namespace

TEST_CASE("puzzle text: all notations of a sudoku give the same tokens") {
  CHECK(only_line(kNine) == kNine);
  auto zeros = kNine;
  for (auto& c : zeros) c = c == '.' ? '0' : c;
  CHECK(only_line(zeros + "\r\n") == kNine);
  std::string rows, spaced;
  for (std::size_t row = 0; row < 81; row += 9) {
    rows += kNine.substr(row, 9) + "\n";
    if (row % 27 == 0) spaced += "+-------+-------+-------+\n";
    for (std::size_t i = 0; i < 9; ++i) {
      const char c = kNine[row + i];
      spaced += std::string(i % 3 == 0 ? "| " : "") + (c == '.' ? '_' : c) + " ";
    }
    spaced += "|\n";
  }
  CHECK(only_line(rows) == kNine);
  CHECK(only_line("# from a newspaper\n" + spaced) == kNine);
  const auto drawn = data::draw_puzzle(kNineLayout, data::parse_puzzles(kNine, "x")[0].tokens);
  CHECK(only_line(drawn) == kNine);
}

TEST_CASE("puzzle text: sudokus are drawn with their boxes") {
  const auto four = data::parse_puzzles("12..\n..1.\n2...\n...3\n", "x")[0];
  CHECK(data::draw_puzzle(four.layout, four.tokens) ==
        "1 2 | . .\n. . | 1 .\n----+----\n2 . | . .\n. . | . 3\n");
  CHECK(data::describe(data::parse_puzzles(std::string(36, '.'), "x")[0].layout) ==
        "sudoku 6x6, boxes 2x3");
}

TEST_CASE("puzzle text: a file may hold several, each with its line") {
  const auto lines = data::parse_puzzles(kNine + "\n\n" + kNine + "\n", "x");
  REQUIRE(lines.size() == 2);
  CHECK(lines[1].line == 3);
  const auto blocks =
      data::parse_puzzles("1...\n....\n....\n....\n\n2...\n....\n....\n....\n", "x");
  REQUIRE(blocks.size() == 2);
  CHECK(blocks[1].line == 6);
  CHECK(blocks[1].tokens[0] == 3);
  const auto csv = data::parse_puzzles(
      "source,question,answer,rating\nown," + kNine + ",x,3\nown," + kNine + ",y,4\n", "x");
  REQUIRE(csv.size() == 2);
  CHECK(csv[1].line == 3);
  CHECK(data::puzzle_line(csv[1].layout, csv[1].tokens) == kNine);
}

TEST_CASE("puzzle text: mazes are read by lines or in one") {
  const auto mazes = data::parse_puzzles(kMaze + "\n" + kMaze, "x");
  REQUIRE(mazes.size() == 2);
  CHECK(mazes[1].line == 7);
  CHECK(data::describe(mazes[0].layout) == "maze 5x5");
  const auto line = data::puzzle_line(mazes[0].layout, mazes[0].tokens);
  CHECK(line == "######S #G# #  #   ######");
  const auto again = data::parse_puzzles(line, "x", mazes[0].layout);
  CHECK(again[0].tokens == mazes[0].tokens);
  CHECK(data::draw_puzzle(mazes[0].layout, mazes[0].tokens).substr(6, 6) == "#S #G\n");
}

TEST_CASE("puzzle text: rows without trailing spaces are padded, other shapes refused") {
  const data::PuzzleLayout wide{data::PuzzleKind::Maze, 3, 5};
  const std::string whole = "#S   \n#### \n#  G#\n", cut = "#S\n####\n#  G#\n";
  const auto expected = data::parse_puzzles(whole, "x", wide)[0].tokens;
  CHECK(data::parse_puzzles(cut, "x", wide)[0].tokens == expected);
  CHECK(data::parse_puzzles(cut + cut + "\n" + whole, "x", wide).size() == 3);
  CHECK(test::contains(refused("#S \n# #\n#  \n# #\n#G \n", wide), "has 5x3 cells, expected 3x5"));
  CHECK(test::contains(refused("#S G\n####\n####\n", wide),
                       "has 3x4 cells, expected 3x5. Write '.'"));
  CHECK(test::contains(refused("#S G##\n######\n", wide), "has 2x6 cells, expected 3x5"));
  CHECK(test::contains(refused("#S G########\n", wide),
                       "got 12 cells, expected 15, or 3 lines of 5"));
  CHECK(test::contains(refused(std::string(15, '1'), wide), "'1' cannot stand in a maze"));
}

TEST_CASE("puzzle text: a byte order mark is ignored, binary bytes are not printed") {
  CHECK(only_line("\xEF\xBB\xBF" + kNine) == kNine);
  CHECK(only_line("\xEF\xBB\xBFsource,question\nown," + kNine + "\n") == kNine);
  CHECK(test::contains(refused("\x89PNG\r\n\x1a\n" + std::string(9, '\0')),
                       "my.txt is no text; got a PNG"));
  CHECK(test::contains(refused("12\x1b[2J\n"), "column 3: '\\x1b' cannot stand"));
  CHECK(test::contains(refused("12\xff\n"), "column 3: '\\xff' cannot stand"));
  CHECK(test::contains(refused("12ä\n"), "column 3: 'ä' cannot stand"));
}

TEST_CASE("puzzle text: errors name line and column") {
  CHECK(test::contains(refused(kNine.substr(1)), "my.txt, line 1: got 80 cells, expected 16, 36"));
  CHECK(
      test::contains(refused("12x4\n"), "my.txt, line 1, column 3: 'x' cannot stand in a sudoku"));
  CHECK(test::contains(refused("1...\n....\n...\n"), "line 3: got 3 cells, expected 4"));
  CHECK(test::contains(refused("1...\n....\n\n1...\n"),
                       "begins in line 1 is not whole; got 2 rows of 4 cells, expected 4"));
  CHECK(test::contains(refused("1..5\n....\n....\n....\n"), "has 5 in cell 4 of a 4x4 sudoku"));
  CHECK(
      test::contains(refused(std::string(16, '.'), kNineLayout), "got 16 cells, expected 9 or 81"));
  CHECK(test::contains(refused("\n\n"), "holds no puzzle"));
  CHECK(test::contains(refused("#S#\n#x#\n#G#\n"), "line 2, column 2: 'x' cannot stand in a maze"));
  CHECK(test::contains(refused("#S#\n# \n#G#\n"), "line 2: got 2 cells, expected 3"));
  CHECK(test::contains(refused("#S#\n# #\n###\n"), "has 0 'G', expected one"));
  const data::PuzzleLayout larger{data::PuzzleKind::Maze, 6, 5};
  CHECK(test::contains(refused(kMaze, larger), "has 5x5 cells, expected 6x5"));
  CHECK(
      test::contains(test::refusal_of(ErrorKind::Usage,
                                      [] { data::parse_puzzles("1", "x", data::PuzzleLayout{}); }),
                     "have no text form"));
}

TEST_CASE("puzzle text: readable puzzles are returned, errors of the others collected") {
  const auto lines = data::parse_readable_puzzles(
      "12......2....4..\n123\n\n..............x.\n1234341221434321\n", "my.txt");
  REQUIRE(lines.puzzles.size() == 2);
  CHECK(lines.puzzles[1].line == 5);
  REQUIRE(lines.refused.size() == 2);
  CHECK(test::contains(lines.refused[0], "line 2: got 3 cells"));
  CHECK(test::contains(lines.refused[1], "line 4, column 15: 'x'"));

  const auto blocks = data::parse_readable_puzzles(
      "1...\n..x.\n....\n....\n\n2...\n....\n....\n....\n\n3...\n....\n", "my.txt");
  REQUIRE(blocks.puzzles.size() == 1);
  CHECK(blocks.puzzles[0].line == 6);
  REQUIRE(blocks.refused.size() == 2);
  CHECK(test::contains(blocks.refused[0], "line 2, column 3"));
  CHECK(test::contains(blocks.refused[1], "begins in line 11 is not whole"));

  const auto mazes =
      data::parse_readable_puzzles("#S#\n#x#\n#G#\n\n#S#\n# #\n#G#\n\n###\n#S#\n", "my.txt");
  REQUIRE(mazes.puzzles.size() == 1);
  CHECK(mazes.puzzles[0].line == 5);
  CHECK(mazes.refused.size() == 2);

  const auto none = data::parse_readable_puzzles("12x4\n", "my.txt");
  CHECK(none.puzzles.empty());
  CHECK(none.refused.size() == 1);
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input, [] { data::parse_readable_puzzles("\n", "my.txt"); }),
      "holds no puzzle"));
}

TEST_CASE("puzzle text: no line vanishes after a refused one") {
  const std::string whole = "12......2....4..\n";
  for (const std::string bad : {"xx\n", "123\n", "12x4\n", "..............x.\n"}) {
    CAPTURE(bad);
    const auto read = data::parse_readable_puzzles(whole + bad + whole, "my.txt");
    REQUIRE(read.puzzles.size() == 2);
    CHECK(read.puzzles[1].line == 3);
    REQUIRE(read.refused.size() == 1);
    CHECK(test::contains(read.refused[0], "line 2"));
  }
  // Rows that end too early are refused, the whole puzzle after them is not.
  const auto rows = data::parse_readable_puzzles("1...\n....\n" + whole, "my.txt");
  REQUIRE(rows.puzzles.size() == 1);
  CHECK(rows.puzzles[0].line == 3);
  REQUIRE(rows.refused.size() == 1);
  CHECK(test::contains(rows.refused[0], "begins in line 1 is not whole"));
  // Further rows of a refused puzzle are named.
  const auto block = data::parse_readable_puzzles("xx\n1...\n....\n\n" + whole, "my.txt");
  REQUIRE(block.refused.size() == 1);
  CHECK(test::contains(block.refused[0], "Lines 2 to 3 are skipped with it."));
  CHECK(block.puzzles.size() == 1);
}

TEST_CASE("puzzle text: cells can be drawn with something around them") {
  const auto four = data::parse_puzzles("12......2....4..", "x")[0];
  const auto drawn = data::draw_puzzle(
      four.layout, four.tokens,
      [](std::size_t cell, char c) { return std::string(1, c) + (cell == 1 ? "*" : " "); }, 2);
  CHECK(drawn.substr(0, drawn.find('\n')) == "1  2* | .  .");
  CHECK(test::contains(drawn, "\n------+------\n"));
}
