// SPDX-License-Identifier: Apache-2.0
// What a person can do with a trained TRM: one function per row of `ubique VERB trm`, one file
// each. Making data is in commands_data.h, talking in commands_chat.h.
// What a person can do with conversations: make data of them, score a model on them, have one.
// `ubique data trm`: puzzles made, imported and looked at; one function per row, one file each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ubique/data/puzzles/set/puzzle_build.h"
#include "ubique/engine/contract/family.h"
#include "ubique/models/trm/net/model.h"

namespace ubique::trm {

engine::Command run_command();       ///< run trm: puzzles, or chat
engine::Command evaluate_command();  ///< evaluate trm
engine::Command demo_command();      ///< demo trm

engine::Command data_chat_command();  ///< data trm chat

/// `run trm --chat`: flags beside those of puzzles, and the whole of what it does.
std::vector<engine::Option> chat_options();
std::vector<std::pair<std::string, std::string>> chat_examples();
engine::Outcome run_chat(const engine::Request& request);

/// Which conversations `evaluate trm` is to score.
struct ChatSetChoice {
  std::filesystem::path folder;
  std::string set;         ///< "test" or "train"
  std::int64_t limit = 0;  ///< so many rows, spread over the set; 0 = all
};
engine::Outcome evaluate_chat(const engine::Request& request, TrmModel& model,
                              const ChatSetChoice& choice);

/// Where the tokenizer of a model lies: MODEL/tokenizer, or that of one of the three folders above
/// it (RUN/checkpoints/best has RUN/tokenizer). Input error that says where it was looked for.
std::filesystem::path find_chat_tokenizer(const std::filesystem::path& model);

/// All rows of `ubique data trm` about puzzles.
std::vector<engine::Command> data_commands();

engine::Command sudoku_command();  ///< data trm sudoku
engine::Command maze_command();    ///< data trm maze
engine::Command csv_command();     ///< data trm csv
engine::Command arc_command();     ///< data trm arc
engine::Command show_command();    ///< data trm show

// What these commands share.

int data_threads();  ///< at least 1

/// Runs `build` with a progress bar towards `total`; nothing once a person has stopped it.
std::optional<data::PuzzleSplits> build_with_progress(
    const engine::Request& request, const std::string& title, std::int64_t total,
    const std::function<data::PuzzleSplits(const data::PuzzleProgress&)>& build);
engine::Outcome stopped_outcome(const std::string& schema);

/// One row per split: how many, clues, difficulty. And the same as JSON.
std::string splits_table(const data::PuzzleSplits& splits);
Json splits_json(const data::PuzzleSplits& splits);

}  // namespace ubique::trm
