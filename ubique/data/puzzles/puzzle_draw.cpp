// SPDX-License-Identifier: Apache-2.0
// Tokens as characters, and grids for people.
#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/data/puzzles/maze.h"
#include "ubique/data/puzzles/puzzle_text.h"

namespace ubique::data {
namespace {

std::string box_rule(const PuzzleLayout& layout) {
  std::string rule;
  for (int box = 0; box < layout.cols / layout.box_cols; ++box) {
    if (box > 0) rule += "+-";
    rule += std::string(static_cast<std::size_t>(2 * layout.box_cols), '-');
  }
  rule.pop_back();
  return rule + "\n";
}

std::string draw_sudoku(const PuzzleLayout& layout, std::span<const std::int32_t> tokens) {
  std::string text;
  for (int row = 0; row < layout.rows; ++row) {
    if (row > 0 && row % layout.box_rows == 0) text += box_rule(layout);
    for (int col = 0; col < layout.cols; ++col) {
      if (col > 0) text += col % layout.box_cols == 0 ? " | " : " ";
      text +=
          token_character(layout.kind, tokens[static_cast<std::size_t>(row * layout.cols + col)]);
    }
    text += '\n';
  }
  return text;
}

}  // namespace

char token_character(PuzzleKind kind, std::int32_t token) {
  if (token < 0) return '?';
  const auto place = static_cast<std::size_t>(token);
  const std::string_view names = kind == PuzzleKind::Sudoku ? std::string_view("?.123456789")
                                 : kind == PuzzleKind::Maze ? kMazeTokens
                                 : kind == PuzzleKind::Arc  ? std::string_view(" .0123456789")
                                                            : std::string_view();
  return place < names.size() ? names[place] : '?';
}

std::string puzzle_line(const PuzzleLayout& layout, std::span<const std::int32_t> tokens) {
  std::string line;
  for (const auto token : tokens) line += token_character(layout.kind, token);
  return line;
}

std::string draw_puzzle(const PuzzleLayout& layout, std::span<const std::int32_t> tokens) {
  const auto cols = static_cast<std::size_t>(layout.cols);
  check(cols > 0 && tokens.size() == cols * static_cast<std::size_t>(layout.rows),
        ErrorKind::Internal, "[data.puzzle_text] {} tokens for {}.", tokens.size(),
        describe(layout));
  if (layout.kind == PuzzleKind::Sudoku) return draw_sudoku(layout, tokens);
  std::string text;
  for (std::size_t row = 0; row < tokens.size(); row += cols) {
    auto line = puzzle_line(layout, tokens.subspan(row, cols));
    if (layout.kind == PuzzleKind::Arc) line.erase(line.find_last_not_of(' ') + 1);
    if (layout.kind != PuzzleKind::Arc || !line.empty()) text += line + "\n";
  }
  return text;
}

}  // namespace ubique::data
