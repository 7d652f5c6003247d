// SPDX-License-Identifier: Apache-2.0
// Reading puzzles from text and data folders, and answers as text and JSON.
#include "ubique/models/trm/use/puzzle_input.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "ubique/base/files/file.h"
#include "ubique/base/files/stream.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/data/puzzles/use/puzzle_augment.h"
#include "ubique/data/puzzles/use/puzzle_check.h"
#include "ubique/data/puzzles/use/puzzle_draw.h"
#include "ubique/data/puzzles/use/puzzle_text.h"
#include "ubique/models/trm/data/dataset.h"
#include "ubique/models/trm/use/open.h"

namespace ubique::trm {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestPuzzleText = 1U << 30U;

bool is_text_kind(data::PuzzleKind kind) {
  return kind == data::PuzzleKind::Sudoku || kind == data::PuzzleKind::Maze;
}

/// The layout of the text; a maze need not be square, its first line gives the width.
data::PuzzleLayout expected_layout(data::PuzzleLayout layout, const TrmConfig& config,
                                   const std::string& where, std::string_view text) {
  if (layout.kind != data::PuzzleKind::Maze || layout.rows > 0) return layout;
  text.remove_prefix(std::min(text.find_first_not_of("\r\n"), text.size()));
  const auto width = static_cast<std::int64_t>(std::min(text.find_first_of("\r\n"), text.size()));
  check(width > 0 && config.seq_len % width == 0, ErrorKind::Input,
        "[trm.run] {}: got a first line of {} cells, expected mazes of the model's {} cells.",
        where, width, config.seq_len);
  layout.rows = static_cast<int>(config.seq_len / width);
  layout.cols = static_cast<int>(width);
  return layout;
}

void read_text_input(const std::string& input, const TrmConfig& config,
                     const PuzzleInputOptions& options, PuzzleInputs& found) {
  const bool standard = input == "-";
  const std::string where = standard ? "standard input" : input;
  const auto text =
      standard ? read_to_end(STDIN_FILENO, where, kLongestPuzzleText) : read_file(input);
  const auto layout = expected_layout(layout_of(config), config, where, text);
  check(is_text_kind(layout.kind), ErrorKind::Input,
        "[trm.run] puzzles of this model have no text form; got {}, expected a folder of a data "
        "set: {} tokens of {} kinds.",
        where, config.seq_len, config.vocab_size);
  auto read = data::parse_readable_puzzles(text, where, layout);
  std::int64_t taken = 0;
  for (auto& puzzle : read.puzzles) {
    if (options.limit > 0 && taken == options.limit) break;
    const auto name = fmt::format("{}, line {}", where, puzzle.line);
    const auto fault = data::broken_rule(puzzle.layout, puzzle.tokens);
    if (fault.empty()) {
      found.puzzles.push_back({name, puzzle.layout, std::move(puzzle.tokens)});
      ++taken;
    } else {
      found.refused.push_back(
          fmt::format("[trm.run] {}: the puzzle has no solution: {}.", name, fault));
    }
  }
  for (const auto& why : read.refused) {
    found.refused.push_back(fmt::format("{} The model takes {}.", why, data::describe(layout)));
  }
}

std::string split_of(const fs::path& folder, const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  std::error_code ignored;
  return fs::is_directory(folder / "test", ignored) ? "test" : "train";
}

void read_folder_input(const fs::path& folder, const TrmConfig& config,
                       const PuzzleInputOptions& options, PuzzleInputs& found) {
  const auto split = split_of(folder, options.set);
  const auto set = data::read_puzzle_set(folder, split);
  const auto where = (folder / split).string();
  check_fits(set, config, where);
  const auto count = options.limit > 0 ? std::min(options.limit, set.examples()) : set.examples();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto length = static_cast<std::size_t>(set.metadata.seq_len);
    auto& puzzle = found.puzzles.emplace_back();
    puzzle = {fmt::format("{}, example {}", where, i), set.metadata.layout,
              std::vector<std::int32_t>(length), std::vector<std::int32_t>(length)};
    puzzle.id = data::load_example(set, i, puzzle.tokens, puzzle.labels);
  }
}

Json cells_json(const data::PuzzleLayout& layout, const std::vector<std::int32_t>& tokens) {
  if (is_text_kind(layout.kind)) return data::puzzle_line(layout, tokens);
  return tokens;
}

}  // namespace

PuzzleInputs read_puzzle_inputs(const std::vector<std::string>& inputs, const TrmConfig& config,
                                const PuzzleInputOptions& options) {
  PuzzleInputs found;
  for (const auto& input : inputs) {
    std::error_code ignored;
    try {
      if (fs::is_directory(input, ignored)) {
        read_folder_input(input, config, options, found);
      } else {
        read_text_input(input, config, options, found);
      }
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Input || inputs.size() == 1) throw;
      found.refused.emplace_back(error.what());
    }
  }
  if (found.puzzles.empty() && found.refused.size() == 1) {
    fail(ErrorKind::Input, "{}", found.refused.front());
  }
  return found;
}

PuzzleAnswer make_answer(const PuzzleInput& puzzle, Solved solved) {
  PuzzleAnswer answer;
  answer.valid = data::obeys_rules(puzzle.layout, puzzle.tokens, solved.tokens);
  if (puzzle.labels.empty()) {
    answer.several = data::has_several_solutions(puzzle.layout, puzzle.tokens);
  } else {
    answer.correct = std::ranges::equal(puzzle.labels, solved.tokens, [](auto label, auto token) {
      return label == data::kIgnoredLabel || label == token;
    });
  }
  answer.solved = std::move(solved);
  return answer;
}

std::string answer_text(std::size_t number, const PuzzleInput& puzzle, const PuzzleAnswer& answer) {
  auto text = fmt::format("#{} {}: {} steps", number, printable(puzzle.name), answer.solved.steps);
  if (answer.valid) text += *answer.valid ? ", valid" : ", not valid";
  if (answer.several.value_or(false)) text += ", more than one solution exists";
  if (!answer.valid && answer.correct) text += *answer.correct ? ", correct" : ", wrong";
  text += answer.solved.confident() ? ", sure\n" : ", unsure\n";
  if (puzzle.layout.rows > 0) return text + data::draw_puzzle(puzzle.layout, answer.solved.tokens);
  return text + fmt::format("{}\n", fmt::join(answer.solved.tokens, " "));
}

Json answer_json(const PuzzleInput& puzzle, const PuzzleAnswer& answer) {
  Json json;
  json["name"] = puzzle.name;
  json["input"] = cells_json(puzzle.layout, puzzle.tokens);
  json["solution"] = cells_json(puzzle.layout, answer.solved.tokens);
  json["valid"] = nullptr;
  if (answer.valid) json["valid"] = *answer.valid;
  if (answer.several) json["several_solutions"] = *answer.several;
  if (answer.correct) json["correct"] = *answer.correct;
  json["steps"] = answer.solved.steps;
  json["q"] = answer.solved.halt;
  json["confident"] = answer.solved.confident();
  return json;
}

Json trace_json(const PuzzleInput& puzzle, const std::vector<Solved>& steps) {
  auto json = Json::array();
  for (const auto& now : steps) {
    json.push_back(
        {{"step", now.steps}, {"cells", cells_json(puzzle.layout, now.tokens)}, {"q", now.halt}});
  }
  return json;
}

}  // namespace ubique::trm
