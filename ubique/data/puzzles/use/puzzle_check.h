// SPDX-License-Identifier: Apache-2.0
// Checks puzzles and answers by the rules of the puzzle, not by a label.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ubique/data/puzzles/set/puzzle_set.h"

namespace ubique::data {

/// Why a puzzle cannot have a solution: "5 stands twice in row 1, in columns 2 and 7", "no path
/// leads from S to G"; empty if no such reason is known.
std::string broken_rule(const PuzzleLayout& layout, std::span<const std::int32_t> puzzle);

/// Sudokus: no digit twice in a unit, and the clues are kept. Mazes: the given cells are kept, and
/// the marked cells are one shortest path from start to goal. Nothing for puzzles without known
/// rules.
std::optional<bool> obeys_rules(const PuzzleLayout& layout, std::span<const std::int32_t> puzzle,
                                std::span<const std::int32_t> answer);

/// Whether a sudoku has more than one solution; nothing for other puzzles, and where a short search
/// does not tell.
std::optional<bool> has_several_solutions(const PuzzleLayout& layout,
                                          std::span<const std::int32_t> puzzle);

}  // namespace ubique::data
