// SPDX-License-Identifier: Apache-2.0
// Splits the text into lines, lines into cells, and assembles puzzles from them.
#include "ubique/data/puzzles/use/puzzle_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/text/csv.h"
#include "ubique/base/text/text.h"
#include "ubique/data/puzzles/maze/maze.h"
#include "ubique/data/puzzles/set/plain_text.h"
#include "ubique/data/puzzles/sudoku/sudoku.h"

namespace ubique::data {
namespace {

constexpr const char* kWriteDots = " Write '.' for open cells where an editor takes spaces away.";

struct TextLine {
  int number = 0;  ///< from 1
  std::string_view text;
};

struct PuzzleTextReader {
  std::string where;
  std::optional<PuzzleLayout> expected;
  std::vector<ParsedPuzzle> puzzles = {};

  /// Rows of the puzzle being read.
  std::vector<std::int32_t> cells = {};
  std::vector<std::vector<std::int32_t>> maze_rows = {};
  int first_line = 0;
  std::size_t width = 0;

  bool in_puzzle() const { return !cells.empty() || !maze_rows.empty(); }
  void forget_puzzle() { cells.clear(), maze_rows.clear(); }

  /// Where errors are collected; null: they are thrown.
  std::vector<std::string>* refused = nullptr;
  bool skips = false;  ///< inside a puzzle that was refused
  int first_skipped = 0, last_skipped = 0;
};

std::vector<TextLine> lines_of(std::string_view text) {
  std::vector<TextLine> lines;
  int number = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back({++number, line});
  }
  return lines;
}

bool is_between_cells(char c) {
  return std::string_view(" \t|-+,;").find(c) != std::string_view::npos;
}

/// Digits of a line, 0 for blanks.
std::vector<std::int32_t> sudoku_cells(const PuzzleTextReader& reader, const TextLine& line) {
  std::vector<std::int32_t> cells;
  for (std::size_t i = 0; i < line.text.size(); ++i) {
    const char c = line.text[i];
    if (is_between_cells(c)) continue;
    if (static_cast<unsigned char>(c) == 0xE2 &&
        i + 2 < line.text.size()) {  // box-drawing characters
      i += 2;
      continue;
    }
    if (c == '.' || c == '_' || c == '0') {
      cells.push_back(0);
    } else if (c >= '1' && c <= '9') {
      cells.push_back(c - '0');
    } else {
      fail(ErrorKind::Input,
           "[data.puzzle_text] {}, line {}, column {}: '{}' cannot stand in a sudoku; expected "
           "digits, and '.', '0' or '_' for blanks.",
           reader.where, line.number, i + 1, printable_letter(line.text, i));
    }
  }
  return cells;
}

std::optional<SudokuShape> shape_of_cells(std::size_t cells) {
  for (const int size : {4, 6, 9}) {
    const auto side = static_cast<std::size_t>(size);
    if (cells == side || cells == side * side) return sudoku_shape(size);
  }
  return std::nullopt;
}

void finish_sudoku(PuzzleTextReader& reader, const SudokuShape& shape, int line,
                   std::span<const std::int32_t> digits) {
  ParsedPuzzle puzzle{line, layout_of(shape), {}};
  for (std::size_t i = 0; i < digits.size(); ++i) {
    check(digits[i] <= shape.size, ErrorKind::Input,
          "[data.puzzle_text] {}: the puzzle in line {} has {} in cell {} of a {}x{} sudoku; "
          "expected at most {}.",
          reader.where, line, digits[i], i + 1, shape.size, shape.size, shape.size);
    puzzle.tokens.push_back(digits[i] + 1);
  }
  reader.puzzles.push_back(std::move(puzzle));
}

/// Called at empty lines and at the end: a puzzle must not be incomplete there.
void check_finished(const PuzzleTextReader& reader) {
  if (reader.cells.empty()) return;
  fail(ErrorKind::Input,
       "[data.puzzle_text] {}: the puzzle that begins in line {} is not whole; got {} rows of {} "
       "cells, expected {}.",
       reader.where, reader.first_line, reader.cells.size() / reader.width, reader.width,
       reader.width);
}

void read_sudoku_line(PuzzleTextReader& reader, const TextLine& line) {
  const auto cells = sudoku_cells(reader, line);
  if (cells.empty()) {
    if (trim(line.text).empty()) check_finished(reader);
    return;
  }
  auto shape = shape_of_cells(cells.size());
  if (reader.expected) shape = sudoku_shape(*reader.expected);
  const auto side = shape ? static_cast<std::size_t>(shape->size) : 0;
  const bool fits = shape && (cells.size() == side || cells.size() == side * side) &&
                    (reader.cells.empty() || (reader.width == side && cells.size() == side));
  if (!fits) {
    const auto wanted = reader.width > 0 && !reader.cells.empty() ? std::to_string(reader.width)
                        : reader.expected ? fmt::format("{} or {}", side, side * side)
                                          : "16, 36 or 81 for a puzzle, 4, 6 or 9 for a row";
    fail(ErrorKind::Input, "[data.puzzle_text] {}, line {}: got {} cells, expected {}.",
         reader.where, line.number, cells.size(), wanted);
  }
  if (cells.size() != side) {
    finish_sudoku(reader, *shape, line.number, cells);
    return;
  }
  if (reader.cells.empty()) reader.first_line = line.number, reader.width = side;
  reader.cells.insert(reader.cells.end(), cells.begin(), cells.end());
  if (reader.cells.size() < side * side) return;
  finish_sudoku(reader, *shape, reader.first_line, reader.cells);
  reader.cells.clear();
}

std::vector<std::int32_t> maze_cells(const PuzzleTextReader& reader, const TextLine& line) {
  std::vector<std::int32_t> cells;
  for (std::size_t i = 0; i < line.text.size(); ++i) {
    const char c = line.text[i] == '.' ? ' ' : line.text[i];
    const auto token = kMazeTokens.find(c);
    if (token == std::string_view::npos || token == 0 || c == 'o') {
      fail(ErrorKind::Input,
           "[data.puzzle_text] {}, line {}, column {}: '{}' cannot stand in a maze; expected '#' "
           "for walls, ' ' or '.' for open cells, 'S' and 'G'.",
           reader.where, line.number, i + 1, printable_letter(line.text, i));
    }
    cells.push_back(static_cast<std::int32_t>(token));
  }
  return cells;
}

void finish_maze(PuzzleTextReader& reader, int line, std::vector<std::int32_t> cells,
                 std::size_t width) {
  const PuzzleLayout layout{PuzzleKind::Maze, static_cast<int>(cells.size() / width),
                            static_cast<int>(width)};
  if (reader.expected) {
    check(
        layout.rows == reader.expected->rows && layout.cols == reader.expected->cols,
        ErrorKind::Input,
        "[data.puzzle_text] {}: the maze that begins in line {} has {}x{} cells, expected {}x{}.{}",
        reader.where, line, layout.rows, layout.cols, reader.expected->rows, reader.expected->cols,
        layout.rows == reader.expected->rows && layout.cols < reader.expected->cols ? kWriteDots
                                                                                    : "");
  }
  for (const char end : {'S', 'G'}) {
    const auto token = static_cast<std::int32_t>(kMazeTokens.find(end));
    const auto found = std::count(cells.begin(), cells.end(), token);
    check(found == 1, ErrorKind::Input,
          "[data.puzzle_text] {}: the maze that begins in line {} has {} '{}', expected one.",
          reader.where, line, found, end);
  }
  reader.puzzles.push_back({line, layout, std::move(cells)});
}

/// The rows of a block as one maze. Short rows are padded, as editors strip trailing spaces.
void end_maze(PuzzleTextReader& reader) {
  auto rows = std::exchange(reader.maze_rows, {});
  if (rows.empty()) return;
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.size());
  const auto open = static_cast<std::int32_t>(kMazeTokens.find(' '));
  std::vector<std::int32_t> cells;
  for (auto& row : rows) {
    row.resize(width, open);
    cells.insert(cells.end(), row.begin(), row.end());
  }
  finish_maze(reader, reader.first_line, std::move(cells), width);
}

/// Whether a line is too long for a row, so that it holds a whole maze.
bool is_whole_maze(const PuzzleTextReader& reader, const TextLine& line) {
  if (!reader.expected || reader.expected->rows < 2) return false;
  const auto rows = static_cast<std::size_t>(reader.expected->rows);
  const auto cols = static_cast<std::size_t>(reader.expected->cols);
  return line.text.size() > std::max(2 * cols, rows * cols / 2);
}

/// Whether the maze is complete; another may follow without an empty line.
bool has_all_rows(const PuzzleTextReader& reader) {
  if (!reader.expected || std::ssize(reader.maze_rows) != reader.expected->rows) return false;
  std::ptrdiff_t width = 0;
  for (const auto& row : reader.maze_rows) width = std::max(width, std::ssize(row));
  return width == reader.expected->cols;
}

void read_maze_line(PuzzleTextReader& reader, const TextLine& line) {
  if (line.text.empty()) return end_maze(reader);
  auto cells = maze_cells(reader, line);
  if (reader.maze_rows.empty() && is_whole_maze(reader, line)) {
    const auto& wanted = *reader.expected;
    check(cells.size() == static_cast<std::size_t>(wanted.rows * wanted.cols), ErrorKind::Input,
          "[data.puzzle_text] {}, line {}: got {} cells, expected {}, or {} lines of {}.",
          reader.where, line.number, cells.size(), wanted.rows * wanted.cols, wanted.rows,
          wanted.cols);
    return finish_maze(reader, line.number, std::move(cells),
                       static_cast<std::size_t>(wanted.cols));
  }
  if (reader.maze_rows.empty()) reader.first_line = line.number, reader.width = cells.size();
  check(reader.expected || cells.size() == reader.width, ErrorKind::Input,
        "[data.puzzle_text] {}, line {}: got {} cells, expected {}.{}", reader.where, line.number,
        cells.size(), reader.width, kWriteDots);
  reader.maze_rows.push_back(std::move(cells));
  if (has_all_rows(reader)) end_maze(reader);
}

/// Lines of the column `question`, if the text is CSV with one.
std::optional<std::vector<CsvLine>> questions(std::string_view text, const std::string& where) {
  const auto header = text.substr(0, text.find('\n'));
  if (header.find("question") == std::string_view::npos) return std::nullopt;
  auto lines = parse_csv(text, where);
  const auto& names = lines.front().fields;
  const auto found = std::find(names.begin(), names.end(), "question");
  if (found == names.end()) return std::nullopt;
  const auto column = static_cast<std::size_t>(found - names.begin());
  std::vector<CsvLine> kept;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    check(column < lines[i].fields.size(), ErrorKind::Input,
          "[data.puzzle_text] {}, line {}: got {} columns, expected {}.", where, lines[i].number,
          lines[i].fields.size(), names.size());
    kept.push_back({lines[i].number, {lines[i].fields[column]}});
  }
  return kept;
}

std::vector<TextLine> lines_of(const std::vector<CsvLine>& questions) {
  std::vector<TextLine> lines;
  for (const auto& line : questions) lines.push_back({line.number, line.fields.front()});
  return lines;
}

bool looks_like_mazes(std::string_view text) {
  return text.find('S') != std::string_view::npos || text.find('G') != std::string_view::npos;
}

/// Whether a line holds a whole puzzle, not one of its rows.
bool is_whole_puzzle(const PuzzleTextReader& reader, const TextLine& line, bool maze) {
  constexpr std::size_t kLongestSudokuRow = 9;
  if (maze) return is_whole_maze(reader, line);
  if (line.text.starts_with('#')) return false;  // a comment
  const auto cells = std::ranges::count_if(line.text, [](char c) {
    const bool drawn = static_cast<unsigned char>(c) >= 0x80;  // a box-drawing character
    return !drawn && !is_between_cells(c);
  });
  return static_cast<std::size_t>(cells) > kLongestSudokuRow;
}

void read_text_line(PuzzleTextReader& reader, const TextLine& line, bool maze) {
  if (maze) {
    read_maze_line(reader, line);
  } else if (!line.text.starts_with('#')) {
    read_sudoku_line(reader, line);
  }
}

/// Called in a catch block: collects the error, or rethrows it.
void refuse(PuzzleTextReader& reader, const Error& error, bool skips) {
  if (reader.refused == nullptr || error.kind() != ErrorKind::Input) throw;
  reader.refused->emplace_back(error.what());
  reader.forget_puzzle();
  reader.skips = skips;
}

/// Names the lines that were skipped with a refused puzzle, so that no line vanishes.
void end_skipping(PuzzleTextReader& reader) {
  if (reader.last_skipped > 0) {
    const auto lines =
        reader.last_skipped == reader.first_skipped
            ? fmt::format("Line {} is", reader.first_skipped)
            : fmt::format("Lines {} to {} are", reader.first_skipped, reader.last_skipped);
    reader.refused->back() += fmt::format(" {} skipped with it.", lines);
  }
  reader.skips = false;
  reader.first_skipped = reader.last_skipped = 0;
}

/// Whether the line belongs to a puzzle that was refused: up to an empty line, or one that holds a
/// whole puzzle.
bool skips_line(PuzzleTextReader& reader, const TextLine& line, bool maze) {
  if (!reader.skips) return false;
  if (trim(line.text).empty() || is_whole_puzzle(reader, line, maze)) {
    end_skipping(reader);
    return false;
  }
  if (reader.first_skipped == 0) reader.first_skipped = line.number;
  reader.last_skipped = line.number;
  return true;
}

/// Rows without an end before a line that holds a whole puzzle are refused, not that line.
void refuse_unfinished_rows(PuzzleTextReader& reader, const TextLine& line, bool maze) {
  if (maze || reader.refused == nullptr || !is_whole_puzzle(reader, line, maze)) return;
  try {
    check_finished(reader);
  } catch (const Error& error) {
    refuse(reader, error, false);
  }
}

void read_text(PuzzleTextReader& reader, const std::vector<TextLine>& lines, bool maze) {
  for (const auto& line : lines) {
    if (skips_line(reader, line, maze)) continue;
    refuse_unfinished_rows(reader, line, maze);
    try {
      read_text_line(reader, line, maze);
    } catch (const Error& error) {
      const bool empty = trim(line.text).empty();
      const bool in_block = reader.in_puzzle();
      refuse(reader, error, !empty && (in_block || !is_whole_puzzle(reader, line, maze)));
    }
  }
  end_skipping(reader);
  try {
    maze ? end_maze(reader) : check_finished(reader);
  } catch (const Error& error) {
    refuse(reader, error, false);
  }
}

ReadPuzzles parse_text(std::string_view text, PuzzleTextReader reader) {
  const auto& layout = reader.expected;
  check(!layout || layout->kind == PuzzleKind::Sudoku || layout->kind == PuzzleKind::Maze,
        ErrorKind::Usage,
        "[data.puzzle_text] {} puzzles have no text form; expected sudokus or mazes.",
        layout ? to_string(layout->kind) : "");
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  check_plain_text(text, reader.where);
  const auto csv = questions(text, reader.where);
  const auto lines = csv ? lines_of(*csv) : lines_of(text);
  const auto sample = csv && !lines.empty() ? lines.front().text : text;
  const bool mazes = layout ? layout->kind == PuzzleKind::Maze : looks_like_mazes(sample);
  read_text(reader, lines, mazes);
  check(!reader.puzzles.empty() || (reader.refused != nullptr && !reader.refused->empty()),
        ErrorKind::Input,
        "[data.puzzle_text] {} holds no puzzle; expected a sudoku such as 81 digits and dots, or "
        "the lines of a maze.",
        reader.where);
  return {std::move(reader.puzzles), {}};
}

}  // namespace

std::vector<ParsedPuzzle> parse_puzzles(std::string_view text, const std::string& where,
                                        const std::optional<PuzzleLayout>& layout) {
  return parse_text(text, {.where = where, .expected = layout}).puzzles;
}

ReadPuzzles parse_readable_puzzles(std::string_view text, const std::string& where,
                                   const std::optional<PuzzleLayout>& layout) {
  std::vector<std::string> refused;
  auto read = parse_text(text, {.where = where, .expected = layout, .refused = &refused});
  read.refused = std::move(refused);
  return read;
}

}  // namespace ubique::data
