// SPDX-License-Identifier: Apache-2.0
// Draws the chart pixel by pixel, with a small bitmap font: two lines need no plotting library.
#include "ubique/models/msinet/train/curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "ubique/models/msinet/use/heatmap.h"

namespace ubique::msinet {
namespace {

constexpr int kCurveWidth = 720, kCurveHeight = 440;
constexpr int kLeft = 84, kRight = 24, kTop = 44, kBottom = 56;  // margins
constexpr Colour kInk = {60, 60, 60}, kGrid = {225, 225, 225};
constexpr Colour kTrainColour = {31, 119, 180}, kValidColour = {255, 127, 14};

/// A bitmap of five columns and seven rows, the top row first.
struct Glyph {
  char letter;
  std::array<std::uint8_t, 7> rows;
};
constexpr Glyph kGlyphs[] = {
    {'0', {14, 17, 19, 21, 25, 17, 14}}, {'1', {4, 12, 4, 4, 4, 4, 14}},
    {'2', {14, 17, 1, 6, 8, 16, 31}},    {'3', {14, 17, 1, 6, 1, 17, 14}},
    {'4', {2, 6, 10, 18, 31, 2, 2}},     {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {6, 8, 16, 30, 17, 17, 14}},   {'7', {31, 1, 2, 4, 8, 8, 8}},
    {'8', {14, 17, 17, 14, 17, 17, 14}}, {'9', {14, 17, 17, 15, 1, 2, 12}},
    {'.', {0, 0, 0, 0, 0, 12, 12}},      {'-', {0, 0, 0, 14, 0, 0, 0}},
    {'+', {0, 4, 4, 31, 4, 4, 0}},       {'a', {0, 0, 14, 1, 15, 17, 15}},
    {'c', {0, 0, 14, 16, 16, 17, 14}},   {'d', {1, 1, 13, 19, 17, 17, 15}},
    {'e', {0, 0, 14, 17, 31, 16, 14}},   {'h', {16, 16, 22, 25, 17, 17, 17}},
    {'i', {4, 0, 12, 4, 4, 4, 14}},      {'l', {12, 4, 4, 4, 4, 4, 14}},
    {'n', {0, 0, 22, 25, 17, 17, 17}},   {'o', {0, 0, 14, 17, 17, 17, 14}},
    {'p', {0, 0, 30, 17, 30, 16, 16}},   {'r', {0, 0, 22, 25, 16, 16, 16}},
    {'s', {0, 0, 14, 16, 14, 1, 30}},    {'t', {8, 8, 28, 8, 8, 9, 6}},
    {'v', {0, 0, 17, 17, 17, 10, 4}},
};
constexpr int kAdvance = 6, kLetter = 2;  // columns from letter to letter; pixels per dot

int text_width(std::string_view text) { return static_cast<int>(text.size()) * kAdvance * kLetter; }

void draw_text(io::Picture& picture, std::string_view text, int left, int top,
               const Colour& colour) {
  for (const char letter : text) {
    const auto* glyph = std::ranges::find(kGlyphs, letter, &Glyph::letter);
    if (glyph != std::end(kGlyphs)) {
      for (int dot = 0; dot < 35 * kLetter * kLetter; ++dot) {
        const int x = dot % (5 * kLetter), y = dot / (5 * kLetter);
        const auto row = glyph->rows[static_cast<std::size_t>(y / kLetter)];
        if ((row >> (4 - x / kLetter) & 1) != 0) blend_pixel(picture, left + x, top + y, colour, 1);
      }
    }
    left += kAdvance * kLetter;
  }
}

void draw_stroke(io::Picture& picture, double x0, double y0, double x1, double y1,
                 const Colour& colour, double half_width) {
  const double dx = x1 - x0, dy = y1 - y0, length = dx * dx + dy * dy;
  const auto low = [&](double a, double b) { return static_cast<int>(std::min(a, b)) - 3; };
  const auto high = [&](double a, double b) { return static_cast<int>(std::max(a, b)) + 3; };
  for (int y = low(y0, y1); y <= high(y0, y1); ++y) {
    for (int x = low(x0, x1); x <= high(x0, x1); ++x) {
      const double along =
          length > 0 ? std::clamp(((x - x0) * dx + (y - y0) * dy) / length, 0.0, 1.0) : 0;
      const double distance = std::hypot(x - x0 - along * dx, y - y0 - along * dy);
      const double share = std::clamp(half_width + 0.5 - distance, 0.0, 1.0);
      if (share > 0) blend_pixel(picture, x, y, colour, share);
    }
  }
}

/// 1, 2 or 5 times a power of ten, so that the range has four to nine steps.
double nice_step(double range) {
  const double power = std::pow(10.0, std::floor(std::log10(range / 4)));
  for (const double factor : {5.0, 2.0}) {
    if (range / (factor * power) >= 4) return factor * power;
  }
  return power;
}

/// From epochs and losses to pixels.
struct CurveAxes {
  double least = 0, most = 1;
  std::size_t epochs = 2;

  double x(std::size_t epoch) const {
    return kLeft + static_cast<double>(epoch) / static_cast<double>(epochs - 1) *
                       (kCurveWidth - kLeft - kRight);
  }
  double y(double loss) const {
    return kTop + (most - loss) / (most - least) * (kCurveHeight - kTop - kBottom);
  }
};

CurveAxes axes_of(std::span<const double> train, std::span<const double> valid) {
  CurveAxes axes;
  axes.epochs = std::max({train.size(), valid.size(), std::size_t{2}});
  std::vector<double> values;
  for (const auto& list : {train, valid}) {
    std::ranges::copy_if(list, std::back_inserter(values),
                         [](double v) { return std::isfinite(v); });
  }
  if (values.empty()) return axes;
  const auto [least, most] = std::ranges::minmax(values);
  const double margin = most > least ? 0.05 * (most - least) : std::max(std::abs(most), 1.0) * 0.1;
  axes.least = least - margin;
  axes.most = most + margin;
  return axes;
}

void draw_axes(io::Picture& picture, const CurveAxes& axes) {
  const double step = nice_step(axes.most - axes.least);
  for (double loss = std::ceil(axes.least / step) * step; loss <= axes.most; loss += step) {
    const double y = axes.y(loss);
    draw_stroke(picture, kLeft, y, kCurveWidth - kRight, y, kGrid, 0.5);
    const auto label = fmt::format("{:.3g}", std::abs(loss) < step / 2 ? 0.0 : loss);
    draw_text(picture, label, kLeft - 10 - text_width(label), static_cast<int>(y) - 7, kInk);
  }
  const auto every = std::max<std::size_t>(
      1, static_cast<std::size_t>(std::ceil(static_cast<double>(axes.epochs) / 10)));
  for (std::size_t epoch = 0; epoch < axes.epochs; epoch += every) {
    const auto label = std::to_string(epoch + 1);
    draw_text(picture, label, static_cast<int>(axes.x(epoch)) - text_width(label) / 2,
              kCurveHeight - kBottom + 8, kInk);
  }
  const double bottom = kCurveHeight - kBottom;
  draw_stroke(picture, kLeft, bottom, kCurveWidth - kRight, bottom, kInk, 0.75);
  draw_stroke(picture, kLeft, kTop, kLeft, bottom, kInk, 0.75);
  draw_text(picture, "epoch", (kCurveWidth - text_width("epoch")) / 2, kCurveHeight - 22, kInk);
  draw_text(picture, "loss", kLeft - text_width("loss") / 2, 14, kInk);
}

void draw_losses(io::Picture& picture, const CurveAxes& axes, std::span<const double> losses,
                 const Colour& colour) {
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (!std::isfinite(losses[i])) continue;
    const double x = axes.x(i), y = axes.y(losses[i]);
    draw_stroke(picture, x, y, x, y, colour, 3);
    if (i == 0 || !std::isfinite(losses[i - 1])) continue;
    draw_stroke(picture, axes.x(i - 1), axes.y(losses[i - 1]), x, y, colour, 1.25);
  }
}

void draw_legend(io::Picture& picture, std::string_view name, int left, const Colour& colour) {
  draw_stroke(picture, left, 21, left + 24, 21, colour, 1.5);
  draw_text(picture, name, left + 32, 14, kInk);
}

}  // namespace

io::Picture curve_picture(std::span<const double> train, std::span<const double> valid) {
  io::Picture picture{kCurveWidth, kCurveHeight, 3, {}};
  picture.pixels.assign(static_cast<std::size_t>(kCurveWidth) * kCurveHeight * 3, 255);
  const auto axes = axes_of(train, valid);
  draw_axes(picture, axes);
  draw_losses(picture, axes, train, kTrainColour);
  draw_losses(picture, axes, valid, kValidColour);
  draw_legend(picture, "train", kCurveWidth - 260, kTrainColour);
  if (!valid.empty()) draw_legend(picture, "valid", kCurveWidth - 140, kValidColour);
  return picture;
}

}  // namespace ubique::msinet
