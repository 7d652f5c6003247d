// SPDX-License-Identifier: Apache-2.0
// Puzzles as characters: one line for files, or a grid for a terminal.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "ubique/data/puzzles/set/puzzle_set.h"

namespace ubique::data {

/// The character of a token: '.' for a blank, '?' for a token without one.
char token_character(PuzzleKind kind, std::int32_t token);
/// All cells in one line, as in CSV files.
std::string puzzle_line(const PuzzleLayout& layout, std::span<const std::int32_t> tokens);
/// The text of one cell: its character, possibly with colour codes or spaces around it.
using CellText = std::function<std::string(std::size_t cell, char character)>;
/// Sudokus with their boxes, mazes line by line, ARC grids as digits. Each line ends with a
/// newline. `cell` formats the cells of sudokus and mazes; its texts are `width` columns wide.
std::string draw_puzzle(const PuzzleLayout& layout, std::span<const std::int32_t> tokens,
                        const CellText& cell = {}, int width = 1);

}  // namespace ubique::data
