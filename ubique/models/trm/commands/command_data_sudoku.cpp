// SPDX-License-Identifier: Apache-2.0
// `ubique data trm sudoku` and `ubique data trm csv`: sudokus made from a seed or imported from
// CSV.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "ubique/base/terminal/log.h"
#include "ubique/data/puzzles/sudoku/sudoku_build.h"
#include "ubique/data/puzzles/sudoku/sudoku_csv.h"
#include "ubique/data/puzzles/use/puzzle_stats.h"
#include "ubique/models/trm/commands/commands.h"

namespace ubique::trm {
namespace {

/// "24" or "22-28".
std::pair<int, int> read_clues(const std::string& text) {
  int low = 0, high = 0;
  const auto* end = text.data() + text.size();
  auto parsed = std::from_chars(text.data(), end, low);
  high = low;
  if (parsed.ec == std::errc() && parsed.ptr != end && *parsed.ptr == '-') {
    parsed = std::from_chars(parsed.ptr + 1, end, high);
  }
  check(parsed.ec == std::errc() && parsed.ptr == end && low >= 0 && high >= 0, ErrorKind::Usage,
        "[trm.sudoku] --clues takes a number or two, such as 24 or 22-28; got '{}'.", text);
  return {low, high};
}

data::SudokuBuild read_sudoku_build(const Config& config) {
  data::SudokuBuild options;
  options.size = config.get("size", options.size);
  options.train = config.get("train", options.train);
  options.test = config.get("test", options.test);
  options.seed = static_cast<std::uint64_t>(config.get<std::int64_t>("seed", 42));
  options.min_backtracks = config.get("min_backtracks", options.min_backtracks);
  if (const auto clues = config.find<std::string>("clues")) {
    std::tie(options.clues_low, options.clues_high) = read_clues(*clues);
  }
  config.finish();
  return options;
}

/// A puzzle keeps more clues than asked for if removing any would allow a second solution.
void warn_extra_clues(const data::SudokuBuild& options, const data::PuzzleSplits& splits) {
  if (options.clues_high <= 0) return;
  std::vector<std::int64_t> clues;
  for (const auto* set : {&splits.train, &splits.test}) {
    if (set->examples() == 0) continue;
    const auto more = data::measure_puzzles(*set, data_threads()).clues;
    clues.insert(clues.end(), more.begin(), more.end());
  }
  const auto over =
      std::ranges::count_if(clues, [&](auto count) { return count > options.clues_high; });
  if (over == 0) return;
  log::warn(
      "[trm.sudoku] {} of {} puzzles have more clues than --clues {}-{} asks for, up to {}: "
      "removing more would allow a second solution",
      over, clues.size(), options.clues_low, options.clues_high, *std::ranges::max_element(clues));
}

engine::Outcome make_sudokus(const engine::Request& request) {
  const auto options = read_sudoku_build(request.config);
  const auto folder = request.output.empty() ? std::filesystem::path("sudoku") : request.output;
  data::claim_puzzle_folder(folder, data::build_provenance(options));
  const auto splits = build_with_progress(
      request, "sudokus", options.train + options.test, [&](const data::PuzzleProgress& progress) {
        return data::build_sudokus(options, data_threads(), progress);
      });
  if (!splits) return stopped_outcome("trm.data.sudoku");
  data::write_puzzle_folder(folder, *splits, {"<blank>"});
  warn_extra_clues(options, *splits);
  auto json = json_document("trm.data.sudoku", 1);
  json["folder"] = folder.string();
  json["made_with"] = splits->train.metadata.provenance;
  json["sets"] = splits_json(*splits);
  return {fmt::format("{} in {} (seed {}); no two are the same up to symmetry\n\n{}\n"
                      "look at them: ubique data trm show {}\n",
                      data::describe(splits->train.metadata.layout), folder.string(), options.seed,
                      splits_table(*splits), folder.string()),
          json, ExitCode::Ok};
}

Json csv_note(const data::PuzzleSet& set, const engine::Request& request,
              const data::SudokuCsvOptions& options, std::int64_t test) {
  auto note = data::layout_json(set.metadata.layout);
  Json names = Json::array();
  for (const auto& input : request.inputs) {
    names.push_back(std::filesystem::path(input).filename().string());
  }
  note["from"] = names;
  note["min_rating"] = options.min_rating;
  note["limit"] = options.limit;
  note["test"] = test;
  note["seed"] = options.seed;
  return note;
}

void warn_left_out(std::int64_t read, const data::PuzzleSplits& splits) {
  const auto left = read - splits.train.examples();
  if (left == 0) return;
  log::warn("{} of the training puzzles are left out: they are in the test set", left);
}

data::PuzzleSplits read_csv_splits(const engine::Request& request,
                                   const data::SudokuCsvOptions& options, std::int64_t test,
                                   const data::PuzzleProgress& progress) {
  const auto train = data::read_sudoku_csv(request.inputs[0], options, data_threads(), progress);
  if (request.inputs.size() == 1) {
    auto splits = data::split_off_test(train, test, data_threads());
    warn_left_out(train.examples() - test, splits);
    return splits;
  }
  auto tested = options;
  tested.limit = test;
  const auto known = train.examples();
  const auto set = data::read_sudoku_csv(request.inputs[1], tested, data_threads(),
                                         [&](std::int64_t done) { progress(known + done); });
  // The two files are the user's own split; a puzzle in both is still removed from training.
  auto splits = data::without_test_puzzles(train, set, data::Sameness::Cells);
  warn_left_out(train.examples(), splits);
  return splits;
}

engine::Outcome import_csv(const engine::Request& request) {
  check(request.inputs.size() <= 2, ErrorKind::Usage,
        "[trm.csv] got {} files, expected one to train with and at most one to test with.",
        request.inputs.size());
  data::SudokuCsvOptions options;
  options.min_rating = request.config.get("min_rating", options.min_rating);
  options.limit = request.config.get("limit", options.limit);
  options.seed = static_cast<std::uint64_t>(request.config.get<std::int64_t>("seed", 42));
  const auto test = request.config.get<std::int64_t>("test", 0);
  request.config.finish();
  check(test >= 0 && options.limit >= 0 && options.min_rating >= 0, ErrorKind::Usage,
        "[trm.csv] --limit, --test and --min-rating cannot be negative; got {}, {} and {}.",
        options.limit, test, options.min_rating);
  const auto folder = request.output.empty() ? std::filesystem::path("sudoku") : request.output;
  auto splits =
      build_with_progress(request, "sudokus", 0, [&](const data::PuzzleProgress& progress) {
        return read_csv_splits(request, options, test, progress);
      });
  if (!splits) return stopped_outcome("trm.data.csv");
  const auto note = csv_note(splits->train, request, options, test);
  splits->train.metadata.provenance = splits->test.metadata.provenance = note;
  data::write_puzzle_folder(folder, *splits, {"<blank>"});
  auto json = json_document("trm.data.csv", 1);
  json["folder"] = folder.string();
  json["made_with"] = note;
  json["sets"] = splits_json(*splits);
  return {fmt::format("{} in {}; each has exactly one solution, its answer\n\n{}",
                      data::describe(splits->train.metadata.layout), folder.string(),
                      splits_table(*splits)),
          json, ExitCode::Ok};
}

}  // namespace

engine::Command sudoku_command() {
  return {.verb = "data",
          .name = "sudoku",
          .summary = "make sudokus with one solution each, from a seed",
          .needs_device = false,
          .options = {{"--size", "size", "N", "4, 6 or 9 (9)"},
                      {"--train,--count", "train", "N", "training puzzles (1000)"},
                      {"--test", "test", "N", "test puzzles (1000)"},
                      {"--min-backtracks", "min_backtracks", "N",
                       "minimum wrong guesses of a search solver (0)"},
                      {"--clues", "clues", "N[-M]",
                       "stop removing clues at N (9x9: remove all that can be)"},
                      {"--seed", "seed", "N", "the same seed gives the same puzzles (42)"}},
          .examples = {{"ubique data trm sudoku -o sudoku --min-backtracks 8 --test 5000",
                        "1,000 hard training puzzles, 5,000 test puzzles"},
                       {"ubique data trm sudoku --size 4 --train 1000 --test 300 -o small",
                        "a set that trains in minutes on a laptop"}},
          .run = make_sudokus};
}

engine::Command csv_command() {
  return {
      .verb = "data",
      .name = "csv",
      .summary = "import sudokus from CSV (source, question, answer, rating)",
      .inputs = "TRAIN.csv [TEST.csv]...",
      .needs_device = false,
      .options = {{"--min-rating", "min_rating", "N", "minimum rating (0)"},
                  {"--limit", "limit", "N", "training puzzles, drawn by --seed (all)"},
                  {"--test", "test", "N", "test puzzles: from TEST.csv (all), else split off (0)"},
                  {"--seed", "seed", "N", "which ones are drawn (42)"}},
      .examples = {{"ubique data trm csv train.csv test.csv --limit 1000 -o sudoku-extreme",
                    "Sudoku-Extreme, 1,000 of its training puzzles"}},
      .run = import_csv};
}

}  // namespace ubique::trm
