// SPDX-License-Identifier: Apache-2.0
// The commands of the family: `ubique run trm`, `evaluate trm`, `demo trm` and the rows of `data
// trm`, and what they share. One source file per command.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ubique/data/puzzles/set/puzzle_set.h"
#include "ubique/engine/contract/family.h"
#include "ubique/models/trm/net/model.h"

namespace ubique::trm {

engine::Command run_command();       ///< run trm: puzzles or chat
engine::Command evaluate_command();  ///< evaluate trm
engine::Command demo_command();      ///< demo trm

/// `run trm --chat`, whose flags are engine::chat_options(). `model` null: opened from the request.
std::vector<std::pair<std::string, std::string>> chat_examples();
engine::Outcome run_chat(const engine::Request& request, std::unique_ptr<TrmModel> model);

/// The conversations that `evaluate trm` scores.
struct ChatSetChoice {
  std::filesystem::path folder;
  std::string set;         ///< "test" or "train"
  std::int64_t limit = 0;  ///< number of rows, spread over the set; 0 = all
};
engine::Outcome evaluate_chat(const engine::Request& request, TrmModel& model,
                              const ChatSetChoice& choice);

/// All rows of `ubique data trm`: the functions below, in this order.
std::vector<engine::Command> data_commands();

engine::Command sudoku_command();     ///< data trm sudoku
engine::Command maze_command();       ///< data trm maze
engine::Command csv_command();        ///< data trm csv
engine::Command arc_command();        ///< data trm arc
engine::Command show_command();       ///< data trm show
engine::Command data_chat_command();  ///< data trm chat

// Shared by the commands of `ubique data trm`.

int data_threads();  ///< threads to make puzzles with, at least 1

/// Runs `build` with a progress bar up to `total`; none if the user stopped it.
std::optional<data::PuzzleSplits> build_with_progress(
    const engine::Request& request, const std::string& title, std::int64_t total,
    const std::function<data::PuzzleSplits(const data::PuzzleProgress&)>& build);
engine::Outcome stopped_outcome(const std::string& schema);

/// Counts, clues and difficulty of each split, as a table and as JSON.
std::string splits_table(const data::PuzzleSplits& splits);
Json splits_json(const data::PuzzleSplits& splits);

}  // namespace ubique::trm
