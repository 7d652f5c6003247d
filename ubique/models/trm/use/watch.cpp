// SPDX-License-Identifier: Apache-2.0
// Frames of a grid: colours, stars for changed cells, cursor movement.
#include "ubique/models/trm/use/watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "ubique/base/terminal/log.h"
#include "ubique/base/terminal/progress.h"
#include "ubique/base/text/printable.h"
#include "ubique/data/puzzles/use/puzzle_draw.h"

namespace ubique::trm {
namespace {

constexpr double kDefaultDelay = 0.3;
constexpr const char *kBold = "\x1b[1m", *kOnGreen = "\x1b[30;42m", *kPlain = "\x1b[0m";

std::int64_t changes(const std::vector<std::int32_t>& before,
                     const std::vector<std::int32_t>& now) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < now.size(); ++i) count += before[i] != now[i] ? 1 : 0;
  return count;
}

/// Blank in the puzzle, to be filled by the network.
bool is_open(const PuzzleInput& puzzle, std::size_t cell) {
  const auto blank = puzzle.layout.kind == data::PuzzleKind::Sudoku ? 1 : 2;
  return puzzle.tokens[cell] == blank;
}

}  // namespace

WatchStyle watch_style(double delay) {
  const bool terminal = Progress::choose_style(STDOUT_FILENO, false, false) == ProgressStyle::Bar;
  WatchStyle style;
  style.in_place = terminal;
  style.colours = log::colour_wanted(STDOUT_FILENO);
  style.delay = delay >= 0 ? delay : terminal ? kDefaultDelay : 0;
  return style;
}

Watch::Watch(const PuzzleInput& puzzle, std::int64_t max_steps, const WatchStyle& style,
             Write write)
    : puzzle_(puzzle),
      max_steps_(max_steps),
      style_(style),
      write_(std::move(write)),
      before_(puzzle.tokens) {
  frame(printable(puzzle.name), puzzle.tokens);
}

void Watch::show(const Solved& now) {
  const auto count = changes(before_, now.tokens);
  frame(
      fmt::format("step {} of {}: {} {} changed, halting logit {:+.2f}{}", now.steps, max_steps_,
                  count, count == 1 ? "cell" : "cells", now.halt, now.confident() ? ", sure" : ""),
      now.tokens);
  before_ = now.tokens;
}

std::string Watch::grid(const std::vector<std::int32_t>& tokens) const {
  const auto changed = [&](std::size_t cell) { return tokens[cell] != before_[cell]; };
  if (style_.colours) {
    return data::draw_puzzle(puzzle_.layout, tokens, [&](std::size_t cell, char character) {
      const auto* colour = changed(cell) ? kOnGreen : is_open(puzzle_, cell) ? "" : kBold;
      return fmt::format("{}{}{}", colour, character, *colour == '\0' ? "" : kPlain);
    });
  }
  if (puzzle_.layout.kind != data::PuzzleKind::Sudoku) {
    return data::draw_puzzle(puzzle_.layout, tokens);
  }
  return data::draw_puzzle(
      puzzle_.layout, tokens,
      [&](std::size_t cell, char character) {
        return fmt::format("{}{}", character, changed(cell) ? '*' : ' ');
      },
      2);
}

void Watch::frame(const std::string& title, const std::vector<std::int32_t>& tokens) {
  auto text = fmt::format("{}\n{}\n", title, grid(tokens));
  const auto lines = std::ranges::count(text, '\n');
  if (style_.in_place && lines_ > 0) text = fmt::format("\x1b[{}A\x1b[J{}", lines_, text);
  write_(text);
  lines_ = lines;
  if (style_.delay > 0) std::this_thread::sleep_for(std::chrono::duration<double>(style_.delay));
}

}  // namespace ubique::trm
