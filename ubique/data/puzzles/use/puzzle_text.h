// SPDX-License-Identifier: Apache-2.0
// Puzzles as people write and read them. A sudoku is one line of 16, 36 or 81 characters, or as
// many lines as it has rows; blanks are '.', '0' or '_', and spaces, '|', '-', '+' and drawn lines
// between cells are passed over. A maze is lines of '#', ' ' (or '.'), 'S' and 'G'. A file may hold
// several: one a line, or blocks with an empty line between them, or CSV with a column `question`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/data/puzzles/set/puzzle_set.h"

namespace ubique::data {

struct ParsedPuzzle {
  int line = 0;  ///< where it begins, from 1
  PuzzleLayout layout;
  std::vector<std::int32_t> tokens;
};

/// All puzzles of a text. `layout` is what is expected (a network's); without one, a text with an
/// 'S' or a 'G' in it is mazes, any other sudokus, and lengths tell the size. Input error with line
/// and column; `where` stands for the file.
std::vector<ParsedPuzzle> parse_puzzles(std::string_view text, const std::string& where,
                                        const std::optional<PuzzleLayout>& layout = {});

struct ReadPuzzles {
  std::vector<ParsedPuzzle> puzzles;
  std::vector<std::string> refused;  ///< what parse_puzzles() would say of each other one
};

/// The same, but a puzzle that cannot be read is passed over: its line, or where puzzles have
/// several, the lines up to the next empty one.
ReadPuzzles parse_readable_puzzles(std::string_view text, const std::string& where,
                                   const std::optional<PuzzleLayout>& layout = {});

/// The character of a token: '.' a blank, '?' none.
char token_character(PuzzleKind kind, std::int32_t token);
/// All cells in one line: the form that CSV files have.
std::string puzzle_line(const PuzzleLayout& layout, std::span<const std::int32_t> tokens);
/// How a cell is to stand there: as its character, or with something around it.
using CellText = std::function<std::string(std::size_t cell, char character)>;
/// For people: sudokus with their boxes, mazes line by line, ARC grids as digits. Each line ends
/// with a newline.
/// `cell` decides about sudokus and mazes; its texts take `width` places.
std::string draw_puzzle(const PuzzleLayout& layout, std::span<const std::int32_t> tokens,
                        const CellText& cell = {}, int width = 1);

}  // namespace ubique::data
