// SPDX-License-Identifier: Apache-2.0
// `ubique data trm`: puzzles made, imported and looked at; one function per row, one file each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ubique/data/puzzles/puzzle_build.h"
#include "ubique/engine/family.h"

namespace ubique::trm {

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
