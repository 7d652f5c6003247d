// SPDX-License-Identifier: Apache-2.0
// What the commands of `ubique data trm` share: the list of them, progress, tables of statistics.
#include <fmt/format.h>

#include <iostream>
#include <numeric>
#include <thread>

#include "ubique/base/terminal/table.h"
#include "ubique/data/chat/chat_set.h"
#include "ubique/data/puzzles/use/puzzle_stats.h"
#include "ubique/models/trm/commands/commands.h"

namespace ubique::trm {
namespace {

/// Thrown by the progress callback to stop; nothing has been written by then.
struct PuzzlesStopped {};

double mean_of(const std::vector<std::int64_t>& values) {
  return values.empty()
             ? 0
             : static_cast<double>(std::accumulate(values.begin(), values.end(), std::int64_t{0})) /
                   static_cast<double>(values.size());
}

std::string range_text(const std::vector<std::int64_t>& values) {
  if (values.empty()) return "-";
  return fmt::format("{}-{}, mean {:.1f}", values.front(), values.back(), mean_of(values));
}

Json range_json(const std::vector<std::int64_t>& values) {
  Json json;
  json["least"] = values.front();
  json["median"] = values[values.size() / 2];
  json["mean"] = mean_of(values);
  json["most"] = values.back();
  return json;
}

std::vector<std::pair<std::string, const data::PuzzleSet*>> filled_splits(
    const data::PuzzleSplits& splits) {
  std::vector<std::pair<std::string, const data::PuzzleSet*>> filled;
  if (splits.train.examples() > 0) filled.emplace_back("train", &splits.train);
  if (splits.test.examples() > 0) filled.emplace_back("test", &splits.test);
  return filled;
}

}  // namespace

std::vector<engine::Command> data_commands() {
  return {sudoku_command(), maze_command(), csv_command(),
          arc_command(),    show_command(), data_chat_command()};
}

int data_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

std::optional<data::PuzzleSplits> build_with_progress(
    const engine::Request& request, const std::string& title, std::int64_t total,
    const std::function<data::PuzzleSplits(const data::PuzzleProgress&)>& build) {
  Progress progress({.title = title, .total = total, .unit = title, .style = request.progress},
                    std::cerr);
  std::int64_t seen = 0;
  try {
    auto splits = build([&](std::int64_t done) {
      progress.advance(done - seen);
      seen = done;
      if (request.stop_requested && request.stop_requested()) throw PuzzlesStopped();
    });
    progress.finish();
    return splits;
  } catch (const PuzzlesStopped&) {
    return std::nullopt;
  }
}

engine::Outcome stopped_outcome(const std::string& schema) {
  return {"stopped; nothing was written\n", json_document(schema, 1), ExitCode::Interrupted};
}

std::string splits_table(const data::PuzzleSplits& splits) {
  Table table({"set", "groups", "puzzles", "examples", "clues", "difficulty"});
  for (const auto& [name, set] : filled_splits(splits)) {
    const auto stats = data::measure_puzzles(*set, data_threads());
    const auto hard = stats.measure.empty() ? "-" : range_text(stats.values) + " " + stats.measure;
    table.add_row({name, std::to_string(set->groups()), std::to_string(set->puzzles()),
                   std::to_string(set->examples()), range_text(stats.clues), hard});
  }
  return table.to_text();
}

Json splits_json(const data::PuzzleSplits& splits) {
  Json json;
  for (const auto& [name, set] : filled_splits(splits)) {
    const auto stats = data::measure_puzzles(*set, data_threads());
    auto& entry = json[name];
    entry["groups"] = set->groups();
    entry["puzzles"] = set->puzzles();
    entry["examples"] = set->examples();
    entry["vocab_size"] = set->metadata.vocab_size;
    entry["seq_len"] = set->metadata.seq_len;
    entry["num_puzzle_identifiers"] = set->metadata.num_puzzle_identifiers;
    entry["layout"] = data::layout_json(set->metadata.layout);
    if (data::is_chat_set(set->metadata)) entry["layout"]["kind"] = "chat";
    if (!stats.clues.empty()) entry["clues"] = range_json(stats.clues);
    if (stats.values.empty()) continue;
    entry[stats.measure] = range_json(stats.values);
    for (const auto& bin : data::difficulty_histogram(stats)) {
      entry["histogram"][bin.label] = bin.count;
    }
  }
  return json;
}

}  // namespace ubique::trm
