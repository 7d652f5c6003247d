// SPDX-License-Identifier: Apache-2.0
// Solving one example and drawing a grid for each step.
#include "ubique/models/trm/use/steps_picture.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "ubique/data/puzzles/use/puzzle_augment.h"
#include "ubique/models/trm/net/loss.h"
#include "ubique/models/trm/use/solver.h"

namespace ubique::trm {
namespace {

using Colour = std::array<std::uint8_t, 3>;

constexpr Colour kPaper = {255, 255, 255}, kLine = {70, 70, 70}, kInk = {20, 20, 20};
constexpr Colour kGiven = {225, 225, 225}, kRight = {166, 217, 171}, kWrong = {240, 150, 140};
constexpr int kGap = 10, kInRow = 8;

/// Digits 1 to 9, three columns and five rows each.
constexpr std::array<std::string_view, 9> kDigits = {
    " # ##  #  # ###", "###  #####  ###", "###  ####  ####", "# ## ####  #  #", "####  ###  ####",
    "####  #### ####", "###  #  #  #  #", "#### ##### ####", "#### ####  ####"};

struct Canvas {
  io::Picture picture;

  void fill(int left, int top, int width, int height, const Colour& colour) {
    for (int y = top; y < top + height; ++y) {
      for (int x = left; x < left + width; ++x) {
        const auto offset = (static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width) +
                             static_cast<std::size_t>(x)) *
                            3;
        std::copy(colour.begin(), colour.end(),
                  picture.pixels.begin() + static_cast<std::ptrdiff_t>(offset));
      }
    }
  }
  void digit(int left, int top, int size, int number) {
    const auto glyph = kDigits.at(static_cast<std::size_t>(number - 1));
    const int dot = std::max(1, size / 8);
    const int x = left + (size - 3 * dot) / 2, y = top + (size - 5 * dot) / 2;
    for (std::size_t i = 0; i < glyph.size(); ++i) {
      if (glyph[i] != '#') continue;
      const auto at = static_cast<int>(i);
      fill(x + at % 3 * dot, y + at / 3 * dot, dot, dot, kInk);
    }
  }
};

struct Cells {
  std::vector<std::int32_t> inputs, labels;
  std::vector<std::vector<std::int32_t>> answers;  ///< one per step
};

Cells solve_steps(const Trm& network, at::ScalarType dtype, const data::PuzzleSet& set,
                  std::int64_t example) {
  const auto length = static_cast<std::size_t>(set.metadata.seq_len);
  Cells cells{std::vector<std::int32_t>(length), std::vector<std::int32_t>(length), {}};
  const auto id = data::load_example(set, example, cells.inputs, cells.labels);
  Solver solver(network, dtype, {.slots = 1, .early = false});
  solver.solve(
      1,
      [&](std::int64_t, std::span<std::int32_t> tokens) {
        std::ranges::copy(cells.inputs, tokens.begin());
        return id;
      },
      [](std::int64_t, const Solved&) { return true; },
      [&](std::int64_t, const Solved& solved) {
        cells.answers.push_back(solved.tokens);
        return true;
      });
  return cells;
}

/// Side of a cell in pixels: a grid has about kGrid.
int cell_size(const data::PuzzleLayout& layout) {
  constexpr int kGrid = 160;
  return std::clamp(kGrid / std::max(layout.rows, layout.cols), 4, 24);
}

void draw_grid(Canvas& canvas, int left, int top, const data::PuzzleLayout& layout,
               const Cells& cells, const std::vector<std::int32_t>& answer) {
  const int size = cell_size(layout);
  const bool sudoku = layout.kind == data::PuzzleKind::Sudoku;
  canvas.fill(left - 1, top - 1, layout.cols * size + 1, layout.rows * size + 1, kLine);
  for (int i = 0; i < layout.rows * layout.cols; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const int x = left + i % layout.cols * size, y = top + i / layout.cols * size;
    const bool given = sudoku ? cells.inputs[at] > 1 : cells.inputs[at] == cells.labels[at];
    const bool right = cells.labels[at] == kIgnored || answer[at] == cells.labels[at];
    canvas.fill(x, y, size - 1, size - 1, !right ? kWrong : given ? kGiven : kRight);
    const int number = answer[at] - 1;
    if (sudoku && number >= 1 && number <= 9) canvas.digit(x, y, size - 1, number);
  }
}

}  // namespace

io::Picture draw_steps(const Trm& network, at::ScalarType dtype, const data::PuzzleSet& set,
                       std::int64_t example) {
  const auto& layout = set.metadata.layout;
  const bool is_grid = layout.rows > 0 && layout.rows * layout.cols == set.metadata.seq_len;
  if (!is_grid || network.config().causal) return {};
  const auto cells = solve_steps(network, dtype, set, example);
  const int size = cell_size(layout), steps = static_cast<int>(cells.answers.size());
  const int in_row = std::min(steps, kInRow), rows = (steps + kInRow - 1) / kInRow;
  const int width = layout.cols * size + kGap, height = layout.rows * size + kGap;
  Canvas canvas{{in_row * width + kGap, rows * height + kGap, 3, {}}};
  canvas.picture.pixels.resize(static_cast<std::size_t>(canvas.picture.width) *
                               static_cast<std::size_t>(canvas.picture.height) * 3);
  canvas.fill(0, 0, canvas.picture.width, canvas.picture.height, kPaper);
  for (int i = 0; i < steps; ++i) {
    draw_grid(canvas, kGap + i % kInRow * width, kGap + i / kInRow * height, layout, cells,
              cells.answers[static_cast<std::size_t>(i)]);
  }
  return canvas.picture;
}

}  // namespace ubique::trm
