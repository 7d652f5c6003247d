// SPDX-License-Identifier: Apache-2.0
// Whether a puzzle can be one, and whether an answer solves it: by the rules, not by a label.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ubique/data/puzzles/set/puzzle_set.h"

namespace ubique::data {

/// What is wrong with a puzzle before anybody looks for an answer: "5 stands twice in row 1, in
/// columns 2 and 7", "no way leads from S to G"; empty if nothing is, or nobody knows.
std::string broken_rule(const PuzzleLayout& layout, std::span<const std::int32_t> puzzle);

/// Sudokus: no digit twice and what was given kept. Mazes: what was given kept, and the marked
/// cells are one way from start to goal that is as short as any. Nothing where no rule is known.
std::optional<bool> obeys_rules(const PuzzleLayout& layout, std::span<const std::int32_t> puzzle,
                                std::span<const std::int32_t> answer);

}  // namespace ubique::data
