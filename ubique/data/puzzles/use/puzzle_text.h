// SPDX-License-Identifier: Apache-2.0
// Parses puzzles written as text. A sudoku is one line of 16, 36 or 81 characters, or one line per
// row; blanks are '.', '0' or '_'; spaces, '|', '-', '+' and box-drawing characters between cells
// are ignored. A maze is lines of '#', ' ' (or '.'), 'S' and 'G'. A file may hold several: one per
// line, blocks separated by empty lines, or CSV with a column `question`.
#pragma once

#include <cstdint>
#include <optional>
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

/// All puzzles of a text. `layout` is the one a network expects; without it, a text that contains
/// an 'S' or a 'G' holds mazes, any other sudokus, and their size follows from the length. Input
/// error with line and column; `where` names the file.
std::vector<ParsedPuzzle> parse_puzzles(std::string_view text, const std::string& where,
                                        const std::optional<PuzzleLayout>& layout = {});

struct ReadPuzzles {
  std::vector<ParsedPuzzle> puzzles;
  std::vector<std::string> refused;  ///< the error message of each puzzle that was skipped
};

/// As parse_puzzles(), but skips puzzles that cannot be read: their line, or for puzzles of several
/// lines all lines up to the next empty one or the next whole puzzle; the message names them.
ReadPuzzles parse_readable_puzzles(std::string_view text, const std::string& where,
                                   const std::optional<PuzzleLayout>& layout = {});

}  // namespace ubique::data
