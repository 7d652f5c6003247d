// SPDX-License-Identifier: Apache-2.0
// Draws puzzles with characters.
#include "ubique/data/puzzles/use/puzzle_draw.h"

#include "ubique/base/error.h"
#include "ubique/data/puzzles/maze/maze.h"

namespace ubique::data {
namespace {

std::string box_rule(const PuzzleLayout& layout, int width) {
  std::string rule;
  for (int box = 0; box < layout.cols / layout.box_cols; ++box) {
    if (box > 0) rule += "+-";
    rule += std::string(static_cast<std::size_t>((width + 1) * layout.box_cols), '-');
  }
  rule.pop_back();
  return rule + "\n";
}

std::string draw_sudoku(const PuzzleLayout& layout, std::span<const std::int32_t> tokens,
                        const CellText& cell, int width) {
  std::string text;
  for (int row = 0; row < layout.rows; ++row) {
    if (row > 0 && row % layout.box_rows == 0) text += box_rule(layout, width);
    for (int col = 0; col < layout.cols; ++col) {
      if (col > 0) text += col % layout.box_cols == 0 ? " | " : " ";
      const auto index = static_cast<std::size_t>(row * layout.cols + col);
      text += cell(index, token_character(layout.kind, tokens[index]));
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

std::string draw_maze(const PuzzleLayout& layout, std::span<const std::int32_t> tokens,
                      const CellText& cell) {
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    text += cell(i, token_character(layout.kind, tokens[i]));
    if ((i + 1) % static_cast<std::size_t>(layout.cols) == 0) text += '\n';
  }
  return text;
}

std::string draw_arc(const PuzzleLayout& layout, std::span<const std::int32_t> tokens) {
  const auto cols = static_cast<std::size_t>(layout.cols);
  std::string text;
  for (std::size_t row = 0; row < tokens.size(); row += cols) {
    auto line = puzzle_line(layout, tokens.subspan(row, cols));
    line.erase(line.find_last_not_of(' ') + 1);
    if (!line.empty()) text += line + "\n";
  }
  return text;
}

}  // namespace

char token_character(PuzzleKind kind, std::int32_t token) {
  if (token < 0) return '?';
  const auto index = static_cast<std::size_t>(token);
  const std::string_view names = kind == PuzzleKind::Sudoku ? std::string_view("?.123456789")
                                 : kind == PuzzleKind::Maze ? kMazeTokens
                                 : kind == PuzzleKind::Arc  ? std::string_view(" .0123456789")
                                                            : std::string_view();
  return index < names.size() ? names[index] : '?';
}

std::string puzzle_line(const PuzzleLayout& layout, std::span<const std::int32_t> tokens) {
  std::string line;
  for (const auto token : tokens) line += token_character(layout.kind, token);
  return line;
}

std::string draw_puzzle(const PuzzleLayout& layout, std::span<const std::int32_t> tokens,
                        const CellText& cell, int width) {
  const auto cols = static_cast<std::size_t>(layout.cols);
  check(cols > 0 && tokens.size() == cols * static_cast<std::size_t>(layout.rows),
        ErrorKind::Internal, "[data.puzzle_text] {} tokens for {}.", tokens.size(),
        describe(layout));
  const CellText plain = [](std::size_t, char character) { return std::string(1, character); };
  if (layout.kind == PuzzleKind::Sudoku) {
    return draw_sudoku(layout, tokens, cell ? cell : plain, width);
  }
  if (layout.kind == PuzzleKind::Arc) return draw_arc(layout, tokens);
  return draw_maze(layout, tokens, cell ? cell : plain);
}

}  // namespace ubique::data
