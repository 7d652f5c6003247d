// SPDX-License-Identifier: Apache-2.0
// Sudokus: solver, difficulty, generation, symmetries and canonical forms.
#include "ubique/data/puzzles/sudoku/sudoku.h"

#include <algorithm>
#include <set>

#include "tests/base/scratch.h"
#include "tests/shared.h"
#include "ubique/base/files/file.h"
#include "ubique/data/puzzles/sudoku/sudoku_canonical.h"
#include "ubique/data/puzzles/sudoku/sudoku_solver.h"

using namespace ubique;

namespace {

data::SudokuGrid grid_of(const std::string& text) {
  data::SudokuGrid grid{};
  for (std::size_t i = 0; i < text.size(); ++i) {
    grid[i] = static_cast<std::uint8_t>(text[i] == '.' ? 0 : text[i] - '0');
  }
  return grid;
}

data::SudokuSymmetry recorded_symmetry(const Json& entry) {
  data::SudokuSymmetry symmetry;
  symmetry.transpose = entry["transpose_first"].get<bool>();
  for (std::size_t i = 0; i < 9; ++i) {
    symmetry.rows[i] = entry["row_perm"][i].get<std::uint8_t>();
    symmetry.columns[i] = entry["col_perm"][i].get<std::uint8_t>();
  }
  for (std::size_t i = 0; i < 10; ++i)
    symmetry.digits[i] = entry["digit_map"][i].get<std::uint8_t>();
  return symmetry;
}

const std::string kPuzzle =
    ".....2.56385...41.....1...9.94.5...7.3218....15.9..2...2.6.1...9718..6.3..8.2....";
const std::string kAnswer =
    "719432856385796412246518379894253167632187594157964238423671985971845623568329741";

}  // namespace

TEST_CASE("sudoku: the solver finds a unique solution, and detects none or several") {
  const auto nine = data::sudoku_shape(9);
  const auto solved = data::solve_sudoku(nine, grid_of(kPuzzle));
  CHECK(solved.solutions == 1);
  CHECK(solved.solution == grid_of(kAnswer));
  CHECK(data::is_solution(nine, grid_of(kAnswer)));
  CHECK_FALSE(data::is_solution(nine, grid_of(kPuzzle)));

  auto twice = kPuzzle;
  twice[0] = '2';  // a second 2 in the first row
  CHECK(data::solve_sudoku(nine, grid_of(twice)).solutions == 0);
  auto wrong = kPuzzle;
  wrong[0] = '4';  // no conflict, but not the solution
  CHECK(data::solve_sudoku(nine, grid_of(wrong)).solutions == 0);
  CHECK(data::solve_sudoku(nine, {}).solutions == 2);
  CHECK(data::solve_sudoku(data::sudoku_shape(4), {}, 1000).solutions == 288);
}

TEST_CASE("sudoku: there are 28,200,960 grids of 6x6, 720 of which share a first row") {
  auto grid = grid_of("123456");
  CHECK(std::int64_t{720} * data::solve_sudoku(data::sudoku_shape(6), grid, 1 << 20).solutions ==
        28'200'960);
}

TEST_CASE("sudoku: difficulty does not depend on the names of digits") {
  const auto nine = data::sudoku_shape(9);
  int guessed = 0;
  for (std::uint64_t i = 0; i < 20; ++i) {
    const auto made = data::make_sudoku(nine, 0, Random(5).fork(i));
    auto renamed = data::identity_symmetry();
    renamed.digits = data::random_symmetry(nine, Random(6).fork(i)).digits;
    const auto same = data::transformed(nine, made.puzzle, renamed);
    CHECK(data::solve_sudoku(nine, same).backtracks == made.backtracks);
    guessed += made.backtracks > 0 ? 1 : 0;
  }
  CHECK(guessed > 0);
}

TEST_CASE(
    "sudoku: generated puzzles have one solution and are minimal, the same for the same seed") {
  for (const int size : {4, 6, 9}) {
    CAPTURE(size);
    const auto shape = data::sudoku_shape(size);
    for (std::uint64_t i = 0; i < 8; ++i) {
      const auto made = data::make_sudoku(shape, 0, Random(1).fork(i));
      CHECK(data::is_solution(shape, made.solution));
      const auto solved = data::solve_sudoku(shape, made.puzzle);
      CHECK(solved.solutions == 1);
      CHECK(solved.solution == made.solution);
      CHECK(data::make_sudoku(shape, 0, Random(1).fork(i)).puzzle == made.puzzle);
      for (std::size_t cell = 0; cell < made.puzzle.size(); ++cell) {
        if (made.puzzle[cell] == 0) continue;
        auto fewer = made.puzzle;
        fewer[cell] = 0;
        CHECK(data::solve_sudoku(shape, fewer).solutions == 2);
      }
    }
    CHECK(data::make_sudoku(shape, shape.cells() / 2, Random(1)).clues == shape.cells() / 2);
  }
}

TEST_CASE("sudoku: equivalent puzzles have one canonical form, others have another") {
  for (const int size : {4, 6, 9}) {
    CAPTURE(size);
    const auto shape = data::sudoku_shape(size);
    std::set<data::SudokuGrid> forms;
    for (std::uint64_t i = 0; i < 4; ++i) {
      const auto made = data::make_sudoku(shape, size == 9 ? 81 : 0, Random(2).fork(i));
      const auto form = data::canonical_form(shape, made.puzzle);
      forms.insert(form);
      CHECK(data::canonical_form(shape, form) == form);
      for (std::uint64_t twin = 0; twin < 4; ++twin) {
        const auto symmetry = data::random_symmetry(shape, Random(3).fork(i * 10 + twin));
        const auto moved = data::transformed(shape, made.puzzle, symmetry);
        CHECK(data::canonical_form(shape, moved) == form);
        CHECK(data::solve_sudoku(shape, moved).solution ==
              data::transformed(shape, made.solution, symmetry));
      }
    }
    CHECK(forms.size() > 1);
  }
}

TEST_CASE("sudoku: the 288 grids of 4x4 are two, up to symmetry") {
  const auto four = data::sudoku_shape(4);
  std::set<data::SudokuGrid> forms;
  for (std::uint64_t i = 0; i < 200; ++i) {
    forms.insert(
        data::canonical_form(four, data::make_sudoku(four, 16, Random(4).fork(i)).solution));
  }
  CHECK(forms.size() == 2);
}

TEST_CASE("sudoku: recorded symmetries give the original's augmented rows") {
  const auto folder = test::shared_folder("golden/trm");
  if (folder.empty()) return;
  const auto golden = parse_json(read_file(folder / "sudoku_build.json"), "sudoku_build.json");
  const auto set = data::read_puzzle_set(folder / "sudoku_aug", "train");
  const auto nine = data::sudoku_shape(set.metadata.layout);
  for (const auto& entry : golden["augmentations"]) {
    const auto symmetry = recorded_symmetry(entry);
    const auto row = entry["row"].get<std::int64_t>(), from = entry["from_row"].get<std::int64_t>();
    for (const auto* rows : {&set.inputs, &set.labels}) {
      const auto source = data::sudoku_grid(nine, rows->row(from));
      CHECK(data::sudoku_tokens(nine, data::transformed(nine, source, symmetry)) == rows->row(row));
    }
  }
  CHECK(golden["augmentations"].size() == 39);
}

TEST_CASE("sudoku: random symmetries are uniform and never transpose oblong boxes") {
  int transposed = 0;
  std::set<std::array<std::uint8_t, 9>> rows;
  for (std::uint64_t i = 0; i < 400; ++i) {
    const auto nine = data::random_symmetry(data::sudoku_shape(9), Random(7).fork(i));
    transposed += nine.transpose ? 1 : 0;
    for (std::size_t band = 0; band < 9; band += 3) {
      CHECK(nine.rows[band] / 3 == nine.rows[band + 2] / 3);
    }
    const auto six = data::random_symmetry(data::sudoku_shape(6), Random(7).fork(i));
    CHECK_FALSE(six.transpose);
    rows.insert(six.rows);
  }
  CHECK(transposed > 150);
  CHECK(transposed < 250);
  CHECK(rows.size() == 48);  // 3! orders of bands, 2 of rows in each
}

TEST_CASE("sudoku: invalid sizes and tokens are refused") {
  CHECK(test::contains(test::refusal_of(ErrorKind::Usage, [] { data::sudoku_shape(5); }),
                       "expected 4, 6 or 9"));
  const std::vector<std::int32_t> tokens(16, 7);
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input, [&] { data::sudoku_grid(data::sudoku_shape(4), tokens); }),
      "token 7 in cell 0"));
}
