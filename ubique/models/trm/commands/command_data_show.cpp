// SPDX-License-Identifier: Apache-2.0
// `ubique data trm show`: counts, difficulty and an example of a data folder.
#include <fmt/format.h>

#include <sstream>

#include "ubique/base/terminal/table.h"
#include "ubique/base/text/printable.h"
#include "ubique/data/chat/chat_set.h"
#include "ubique/data/puzzles/use/puzzle_draw.h"
#include "ubique/data/puzzles/use/puzzle_stats.h"
#include "ubique/io/text/tokenizer.h"
#include "ubique/models/trm/commands/commands.h"

namespace ubique::trm {
namespace {

data::PuzzleSplits read_splits(const std::filesystem::path& folder) {
  data::PuzzleSplits splits;
  std::error_code error;
  const bool tested = std::filesystem::is_directory(folder / "test", error);
  const bool trained = std::filesystem::is_directory(folder / "train", error);
  if (trained || !tested) splits.train = data::read_puzzle_set(folder, "train");
  if (tested) splits.test = data::read_puzzle_set(folder, "test");
  return splits;
}

/// "1-3    412 ########": bars of at most 40 characters.
std::string histogram_text(const data::PuzzleSet& set) {
  const auto stats = data::measure_puzzles(set, data_threads());
  const auto bins = data::difficulty_histogram(stats);
  std::int64_t most = 1;
  for (const auto& bin : bins) most = std::max(most, bin.count);
  Table table({stats.measure, "puzzles", ""});
  for (const auto& bin : bins) {
    const auto length = static_cast<std::size_t>((bin.count * 40 + most - 1) / most);
    table.add_row({bin.label, std::to_string(bin.count), std::string(length, '#')});
  }
  return bins.empty() ? "" : "\n" + table.to_text();
}

std::string kind_text(const data::PuzzleMetadata& metadata) {
  return data::is_chat_set(metadata) ? "chat" : data::describe(metadata.layout);
}

/// A row of a chat set as text, with special tokens; empty if it is no chat set or has no
/// tokenizer.
std::string chat_text(const data::PuzzleSet& set, const std::filesystem::path& folder,
                      std::int64_t example) {
  const auto file = folder / "tokenizer" / "tokenizer.json";
  std::error_code ignored;
  if (!data::is_chat_set(set.metadata) || !std::filesystem::exists(file, ignored)) return "";
  auto tokens = set.inputs.row(example);
  std::erase(tokens, static_cast<std::int32_t>(set.metadata.pad_id));
  return io::read_tokenizer(file).decode(tokens);
}

std::string example_text(const data::PuzzleSet& set, std::int64_t example,
                         const std::string& chat) {
  if (!chat.empty()) {
    std::string text = fmt::format("\nexample {}:\n", example);
    std::istringstream lines(chat);
    for (std::string line; std::getline(lines, line);) text += printable(line, 2000) + "\n";
    return text;
  }
  const auto& layout = set.metadata.layout;
  if (layout.rows == 0) return "";
  return fmt::format("\nexample {}:\n{}\nits answer:\n{}", example,
                     data::draw_puzzle(layout, set.inputs.row(example)),
                     data::draw_puzzle(layout, set.labels.row(example)));
}

engine::Outcome show_folder(const engine::Request& request) {
  const std::filesystem::path folder = request.inputs.front();
  const auto example = request.config.get<std::int64_t>("example", 0);
  request.config.finish();
  const auto splits = read_splits(folder);
  const auto& set = splits.train.examples() > 0 ? splits.train : splits.test;
  check(example >= 0 && example < set.examples(), ErrorKind::Usage,
        "[trm.show] no example {} in {}; expected 0 to {}.", example, folder.string(),
        set.examples() - 1);
  auto json = json_document("trm.data.show", 1);
  json["folder"] = folder.string();
  json["made_with"] = set.metadata.provenance;
  json["sets"] = splits_json(splits);
  const auto chat = chat_text(set, folder, example);
  if (!chat.empty()) json["example"]["text"] = chat;
  json["example"]["inputs"] = set.inputs.row(example);
  json["example"]["labels"] = set.labels.row(example);
  const auto& metadata = set.metadata;
  return {fmt::format("{}: {}; {} tokens of {} kinds; puzzle ids: {}\n\n{}{}{}", folder.string(),
                      kind_text(metadata), metadata.seq_len, metadata.vocab_size,
                      metadata.num_puzzle_identifiers, splits_table(splits), histogram_text(set),
                      example_text(set, example, chat)),
          json, ExitCode::Ok};
}

}  // namespace

engine::Command show_command() {
  return {.verb = "data",
          .name = "show",
          .summary = "look at a folder of puzzles: counts, difficulty, an example",
          .inputs = "FOLDER",
          .needs_device = false,
          .options = {{"--example", "example", "N", "which one to draw (0)"}},
          .examples = {{"ubique data trm show sudoku", "what is in it"}},
          .run = show_folder};
}

}  // namespace ubique::trm
