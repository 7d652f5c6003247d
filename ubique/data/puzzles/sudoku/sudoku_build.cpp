// SPDX-License-Identifier: Apache-2.0
// Generates candidates on several threads and keeps those that are not equivalent to earlier ones.
#include "ubique/data/puzzles/sudoku/sudoku_build.h"

#include <tuple>

#include "ubique/base/error.h"
#include "ubique/data/puzzles/set/distinct.h"
#include "ubique/data/puzzles/sudoku/sudoku_canonical.h"

namespace ubique::data {
namespace {

struct KeyedSudoku {
  std::string key;
  SudokuPuzzle made;
};

Json provenance_of(const SudokuBuild& options) {
  auto json = layout_json(layout_of(sudoku_shape(options.size)));
  json["train"] = options.train;
  json["test"] = options.test;
  json["seed"] = options.seed;
  json["clues"] = {options.clues_low, options.clues_high};
  json["min_backtracks"] = options.min_backtracks;
  json["version"] = 1;  // incremented when the same options give other puzzles
  return json;
}

SudokuBuild checked_sudokus(SudokuBuild options) {
  const auto shape = sudoku_shape(options.size);
  if (options.clues_low < 0) {
    std::tie(options.clues_low, options.clues_high) = default_clues(options.size);
  }
  check(options.clues_low <= options.clues_high && options.clues_high <= shape.cells(),
        ErrorKind::Usage,
        "[data.sudoku] got {} to {} clues, expected the smaller number first and at most {}.",
        options.clues_low, options.clues_high, shape.cells());
  constexpr std::int64_t kMost = 10'000'000;
  check(options.train >= 1 && options.train <= kMost && options.test >= 0 && options.test <= kMost,
        ErrorKind::Usage,
        "[data.sudoku] got {} puzzles to train and {} to test with; expected 1 to {} and 0 to {}.",
        options.train, options.test, kMost, kMost);
  check(options.min_backtracks >= 0, ErrorKind::Usage,
        "[data.sudoku] got at least {} backtracks, expected 0 or more.", options.min_backtracks);
  return options;
}

}  // namespace

std::pair<int, int> default_clues(int size) {
  return size == 4 ? std::pair{4, 9} : size == 6 ? std::pair{8, 14} : std::pair{0, 0};
}

Json build_provenance(const SudokuBuild& options) {
  return provenance_of(checked_sudokus(options));
}

PuzzleSplits build_sudokus(const SudokuBuild& asked, int threads, const PuzzleProgress& progress) {
  const auto options = checked_sudokus(asked);
  const auto shape = sudoku_shape(options.size);
  const auto total = options.train + options.test;
  const auto range = static_cast<std::uint64_t>(options.clues_high - options.clues_low + 1);
  const Random seed(options.seed);
  const auto made = collect_distinct<KeyedSudoku>(
      total, threads,
      [&](std::uint64_t index) -> std::optional<KeyedSudoku> {
        const auto random = seed.fork(index);
        const int clues = options.clues_low + static_cast<int>(random.below(0, range));
        auto puzzle = make_sudoku(shape, clues, random);
        if (puzzle.backtracks < options.min_backtracks) return std::nullopt;
        return KeyedSudoku{sudoku_key(shape, puzzle), puzzle};
      },
      progress);
  check(static_cast<std::int64_t>(made.size()) == total, ErrorKind::Usage,
        "[data.sudoku] {} puzzles of {}x{} were wanted, and only {} different ones were found with "
        "{} to {} clues and at least {} backtracks. Ask for fewer, other clues or easier ones.",
        total, shape.size, shape.size, made.size(), options.clues_low, options.clues_high,
        options.min_backtracks);
  auto metadata = sudoku_metadata(shape);
  metadata.provenance = provenance_of(options);
  PuzzleSplits splits{empty_puzzle_set(metadata), empty_puzzle_set(metadata)};
  // Shuffled: rare puzzles are found late, and both sets should get some.
  std::int64_t taken = 0;
  for (const auto index : seed.permutation(total)) {
    add_sudoku(taken++ < options.train ? splits.train : splits.test, shape,
               made[static_cast<std::size_t>(index)].made);
  }
  return splits;
}

}  // namespace ubique::data
