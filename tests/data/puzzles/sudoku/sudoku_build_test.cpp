// SPDX-License-Identifier: Apache-2.0
// Generated sudoku sets and sudokus from CSV.
#include <set>

#include "tests/base/scratch.h"
#include "tests/shared.h"
#include "ubique/base/files/file.h"
#include "ubique/data/puzzles/sudoku/sudoku_build.h"
#include "ubique/data/puzzles/sudoku/sudoku_canonical.h"
#include "ubique/data/puzzles/sudoku/sudoku_csv.h"
#include "ubique/data/puzzles/sudoku/sudoku_solver.h"

using namespace ubique;

namespace {

const std::string kRow =
    "own,.....2.56385...41.....1...9.94.5...7.3218....15.9..2...2.6.1...9718..6.3..8.2....,"
    "719432856385796412246518379894253167632187594157964238423671985971845623568329741,49\n";
const std::string kHeader = "source,question,answer,rating\n";

std::string refused_csv(const std::string& text, const data::SudokuCsvOptions& options = {}) {
  const test::ScratchFolder scratch;
  write_file(scratch / "my.csv", text);
  return test::refusal_of(ErrorKind::Input,
                          [&] { data::read_sudoku_csv(scratch / "my.csv", options); });
}

std::string changed(std::size_t place, char to) {
  auto row = kRow;
  row[place] = to;
  return kHeader + kRow + row;
}

}  // namespace

TEST_CASE(
    "sudoku build: sets are as requested, without equivalent puzzles, for any number of threads") {
  for (const int size : {4, 6, 9}) {
    CAPTURE(size);
    const auto shape = data::sudoku_shape(size);
    const data::SudokuBuild options{.size = size, .train = 30, .test = 20, .seed = 5};
    const auto one = data::build_sudokus(options, 1), two = data::build_sudokus(options, 3);
    CHECK(one.train.examples() == 30);
    CHECK(one.test.examples() == 20);
    std::set<data::SudokuGrid> forms;
    for (const auto* set : {&one.train, &one.test}) {
      for (std::int64_t i = 0; i < set->examples(); ++i) {
        const auto puzzle = data::sudoku_grid(shape, set->inputs.row(i));
        const auto solution = data::sudoku_grid(shape, set->labels.row(i));
        const auto solved = data::solve_sudoku(shape, puzzle);
        CHECK(solved.solutions == 1);
        CHECK(solved.solution == solution);
        forms.insert(data::canonical_form(shape, size == 9 ? solution : puzzle));
      }
    }
    CHECK(forms.size() == 50);
    for (std::int64_t i = 0; i < 20; ++i) CHECK(one.test.inputs.row(i) == two.test.inputs.row(i));
    CHECK(one.train.metadata.provenance["seed"] == 5);
  }
}

TEST_CASE("sudoku build: difficulty and number of clues are respected") {
  const data::SudokuBuild options{
      .size = 9, .train = 6, .test = 0, .clues_low = 26, .clues_high = 28, .min_backtracks = 2};
  const auto set = data::build_sudokus(options).train;
  const auto nine = data::sudoku_shape(9);
  for (std::int64_t i = 0; i < set.examples(); ++i) {
    const auto puzzle = data::sudoku_grid(nine, set.inputs.row(i));
    const auto clues = 81 - std::count(puzzle.begin(), puzzle.end(), 0);
    CHECK(clues >= 26);
    CHECK(data::solve_sudoku(nine, puzzle).backtracks >= 2);
  }
}

TEST_CASE("sudoku build: invalid options are refused") {
  const auto refused = [](const data::SudokuBuild& options) {
    return test::refusal_of(ErrorKind::Usage, [&] { data::build_sudokus(options); });
  };
  CHECK(test::contains(refused({.size = 5}), "expected 4, 6 or 9"));
  CHECK(test::contains(refused({.size = 4, .train = 100'000}), "different ones were found"));
  CHECK(test::contains(refused({.train = 0}), "got 0 puzzles"));
  CHECK(test::contains(refused({.clues_low = 30, .clues_high = 20}), "got 30 to 20 clues"));
}

TEST_CASE("sudoku csv: rows become the original's arrays") {
  const auto folder = test::shared_folder("golden/trm");
  if (folder.empty()) return;
  const auto original = data::read_puzzle_set(folder / "sudoku_noaug_sub", "test");
  const auto ours = data::read_sudoku_csv(folder / "sudoku_csv/test.csv", {.min_rating = 10}, 2);
  REQUIRE(ours.examples() == original.examples());
  for (std::int64_t i = 0; i < ours.examples(); ++i) {
    CHECK(ours.inputs.row(i) == original.inputs.row(i));
    CHECK(ours.labels.row(i) == original.labels.row(i));
  }
  CHECK(ours.puzzle_indices == original.puzzle_indices);
  CHECK(ours.group_indices == original.group_indices);
  CHECK(ours.puzzle_identifiers == original.puzzle_identifiers);
  const test::ScratchFolder scratch;
  data::write_puzzle_set(scratch.path(), "test", ours);
  for (const auto* field :
       {"inputs", "labels", "puzzle_identifiers", "puzzle_indices", "group_indices"}) {
    const auto name = fmt::format("test/all__{}.npy", field);
    CHECK(read_file(scratch / name) == read_file(folder / "sudoku_noaug_sub" / name));
  }
  const auto augmented = data::read_puzzle_set(folder / "sudoku_aug", "train");
  const auto train = data::read_sudoku_csv(folder / "sudoku_csv/train.csv", {});
  REQUIRE(train.groups() == augmented.groups());
  for (std::int64_t group = 0; group < train.groups(); ++group) {
    const auto first = augmented.group_indices[static_cast<std::size_t>(group)];
    CHECK(train.inputs.row(group) == augmented.inputs.row(first));
  }
}

TEST_CASE("sudoku csv: a subset of rows is drawn, and some are split off for testing") {
  const test::ScratchFolder scratch;
  const auto made = data::build_sudokus({.size = 4, .train = 40, .test = 0}).train;
  const auto four = data::sudoku_shape(4);
  std::string text = "answer,question\n";
  for (std::int64_t i = 0; i < made.examples(); ++i) {
    const auto other = data::random_symmetry(four, Random(1).fork(static_cast<std::uint64_t>(i)));
    for (const auto& symmetry :
         {data::identity_symmetry(), other}) {  // each with an equivalent one
      for (const auto* rows : {&made.labels, &made.inputs}) {
        const auto grid = data::transformed(four, data::sudoku_grid(four, rows->row(i)), symmetry);
        for (std::size_t cell = 0; cell < 16; ++cell) text += static_cast<char>('0' + grid[cell]);
        text += rows == &made.labels ? "," : "\n";
      }
    }
  }
  write_file(scratch / "my.csv", text);
  const auto all = data::read_sudoku_csv(scratch / "my.csv", {});
  CHECK(all.examples() == 80);
  CHECK(data::read_sudoku_csv(scratch / "my.csv", {.limit = 7}).examples() == 7);
  const auto splits = data::split_off_test(all, 9);  // four with their equivalents, and one without
  CHECK(splits.test.examples() == 9);
  CHECK(splits.train.examples() == 70);
  const auto apart =
      data::without_test_puzzles(all, splits.test,
                                 data::Sameness::Cells);  // a file of its own to test with
  CHECK(apart.test.examples() == 9);
  CHECK(apart.train.examples() == 71);  // the ninth's equivalent is kept
  CHECK(test::contains(test::refusal_of(ErrorKind::Usage,
                                        [&] {
                                          data::without_test_puzzles(splits.test, splits.test,
                                                                     data::Sameness::Symmetry);
                                        }),
                       "all puzzles are among the 9"));
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Usage,
                       [&] { data::read_sudoku_csv(scratch / "my.csv", {.limit = -3}); }),
      "got limit -3"));
}

TEST_CASE("sudoku csv: errors name the line") {
  CHECK(test::contains(refused_csv(""), "is empty"));
  CHECK(test::contains(refused_csv("a,b\n1,2\n"), "no column 'question'"));
  CHECK(test::contains(refused_csv(kHeader), "holds no puzzle"));
  CHECK(test::contains(refused_csv(kHeader + kRow + "own,1,2\n"), "line 3: got 3 columns"));
  CHECK(
      test::contains(refused_csv(kHeader + "own,123,123,1\n"), "line 2: got a puzzle of 3 cells"));
  CHECK(test::contains(refused_csv("question,answer\n\n\n12,34\n"),
                       "line 4: got a puzzle of 2 cells"));  // seen without keeping the lines
  CHECK(test::contains(refused_csv(std::string(70000, 'a')), "line 1: got 70000 bytes"));
  CHECK(test::contains(refused_csv(changed(4, 'x')), "line 3: 'x' in cell 1 is wrong"));
  CHECK(test::contains(refused_csv(changed(4, '2')), "line 3: the puzzle has no solution"));
  auto blank = kRow;
  for (std::size_t i = 4; i < 40; ++i) blank[i] = '.';
  CHECK(test::contains(refused_csv(kHeader + blank), "line 2: the puzzle has more than one"));
  CHECK(test::contains(refused_csv(changed(86, '1')), "line 3: the answer is not the puzzle's"));
  CHECK(test::contains(refused_csv(kHeader + kRow, {.min_rating = 50}), "no puzzle of rating 50"));
  auto rating = kRow;
  rating.replace(rating.size() - 3, 2, "x");
  CHECK(test::contains(refused_csv(kHeader + rating, {.min_rating = 5}),
                       "got 'x', expected a whole"));
  CHECK(test::contains(refused_csv(changed(4, '\xff')), "line 3: '\\xff' in cell 1 is wrong"));
  CHECK(test::contains(refused_csv("\x1b[2J,b\n"), "got \\x1b[2J, b"));
  CHECK(test::contains(refused_csv(std::string("a\0b", 3)), "is no text"));
}
