// SPDX-License-Identifier: Apache-2.0
// Contours and markers of a heat map. Lines are drawn by distance: a pixel's coverage follows from
// the distance of its centre to the line, which antialiases in one pass.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "ubique/models/msinet/use/heatmap.h"

namespace ubique::msinet {
namespace {

/// In pixels; grows with the picture, because large ones are viewed scaled down.
double contour_half_width(int width, int height) {
  return 0.75 * std::max(1.0, std::max(width, height) / 1200.0);
}

struct LineEnd {
  double x, y;
};

double distance_to_segment(double x, double y, const LineEnd& a, const LineEnd& b) {
  const double dx = b.x - a.x, dy = b.y - a.y;
  const double length = dx * dx + dy * dy;
  const double along =
      length > 0 ? std::clamp(((x - a.x) * dx + (y - a.y) * dy) / length, 0.0, 1.0) : 0;
  return std::hypot(x - a.x - along * dx, y - a.y - along * dy);
}

/// Distance of each pixel to the nearest line.
class LineDistance {
 public:
  LineDistance(int width, int height)
      : width_(width),
        height_(height),
        half_(contour_half_width(width, height)),
        away_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height),
              std::numeric_limits<float>::max()) {}

  void add(const LineEnd& a, const LineEnd& b) {
    const double reach = 2 * half_ + 0.5;
    const int left = std::max(0, static_cast<int>(std::floor(std::min(a.x, b.x) - reach)));
    const int right = std::min(width_ - 1, static_cast<int>(std::ceil(std::max(a.x, b.x) + reach)));
    const int top = std::max(0, static_cast<int>(std::floor(std::min(a.y, b.y) - reach)));
    const int bottom =
        std::min(height_ - 1, static_cast<int>(std::ceil(std::max(a.y, b.y) + reach)));
    for (int y = top; y <= bottom; ++y) {
      for (int x = left; x <= right; ++x) {
        auto& pixel = away_[index(x, y)];
        pixel = std::min(pixel, static_cast<float>(distance_to_segment(x, y, a, b)));
      }
    }
  }

  /// Draws the line with a dark rim, which keeps it visible on a white background.
  void paint(io::Picture& picture, const Colour& colour) const {
    for (int y = 0; y < height_; ++y) {
      for (int x = 0; x < width_; ++x) {
        const auto away = static_cast<double>(away_[index(x, y)]);
        const double rim = std::clamp(2 * half_ + 0.5 - away, 0.0, 1.0);
        if (rim <= 0) continue;
        blend_pixel(picture, x, y, {20, 20, 20}, kRimOpacity * rim);
        blend_pixel(picture, x, y, colour, std::clamp(half_ + 0.5 - away, 0.0, 1.0));
      }
    }
  }

 private:
  static constexpr double kRimOpacity = 0.5;

  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
           static_cast<std::size_t>(x);
  }

  int width_, height_;
  double half_;
  std::vector<float> away_;
};

/// The square between four pixel centres: corners clockwise from the top left, side i from corner i
/// to the next.
struct MarchingSquare {
  std::array<LineEnd, 4> corners;
  std::array<double, 4> heights;  // above the level

  LineEnd crossing(std::size_t side) const {
    const auto next = (side + 1) % 4;
    const double part = heights[side] / (heights[side] - heights[next]);
    return {corners[side].x + part * (corners[next].x - corners[side].x),
            corners[side].y + part * (corners[next].y - corners[side].y)};
  }

  void draw(LineDistance& lines) const {
    std::array<std::size_t, 4> crossed{};
    std::size_t count = 0;
    for (std::size_t side = 0; side < 4; ++side) {
      if ((heights[side] >= 0) != (heights[(side + 1) % 4] >= 0)) crossed[count++] = side;
    }
    if (count == 2) lines.add(crossing(crossed[0]), crossing(crossed[1]));
    if (count == 4) {
      // A saddle: the mean decides which corners are connected.
      const double middle = (heights[0] + heights[1] + heights[2] + heights[3]) / 4;
      const bool around_first = (middle >= 0) != (heights[0] >= 0);
      const std::size_t first = around_first ? 3 : 0;  // lines cut off corners 0 and 2, or 1 and 3
      lines.add(crossing(first), crossing((first + 1) % 4));
      lines.add(crossing((first + 2) % 4), crossing((first + 3) % 4));
    }
  }
};

/// Three columns and five rows of a digit, the top row in the highest bits.
constexpr std::array<int, 10> kDigits = {
    0b111101101101111, 0b010110010010111, 0b111001111100111, 0b111001111001111, 0b101101111001001,
    0b111100111001111, 0b111100111101111, 0b111001001001001, 0b111101111101111, 0b111101111001111};

void draw_number(io::Picture& picture, int number, int x, int y, int size, const Colour& colour) {
  const auto text = std::to_string(number);
  int left = x - (static_cast<int>(text.size()) * 4 - 1) * size / 2;
  const int top = y - 5 * size / 2;
  for (const char digit : text) {
    const int bits = kDigits[static_cast<std::size_t>(digit - '0')];
    for (int i = 0; i < 15 * size * size; ++i) {
      const int column = i % (3 * size), row = i / (3 * size);
      const int bit = 14 - (row / size * 3 + column / size);
      if ((bits >> bit & 1) != 0) blend_pixel(picture, left + column, top + row, colour, 1);
    }
    left += 4 * size;
  }
}

}  // namespace

void draw_contour(io::Picture& picture, const MeasuredMap<float>& map, double value,
                  const Colour& colour) {
  LineDistance lines(map.width, map.height);
  const auto width = static_cast<std::size_t>(map.width);
  const auto level = static_cast<float>(value);
  for (int y = 0; y + 1 < map.height; ++y) {
    const auto* upper = map.values.data() + static_cast<std::size_t>(y) * width;
    const auto* lower = upper + width;
    for (std::size_t x = 0; x + 1 < width; ++x) {
      const int above = (upper[x] >= level) + (upper[x + 1] >= level) + (lower[x] >= level) +
                        (lower[x + 1] >= level);
      if (above == 0 || above == 4) continue;  // nearly all of them
      const auto left = static_cast<double>(x), top = static_cast<double>(y);
      const auto height = [&](float at) { return static_cast<double>(at - level); };
      const MarchingSquare square{
          {{{left, top}, {left + 1, top}, {left + 1, top + 1}, {left, top + 1}}},
          {height(upper[x]), height(upper[x + 1]), height(lower[x + 1]), height(lower[x])}};
      square.draw(lines);
    }
  }
  lines.paint(picture, colour);
}

void draw_peaks(io::Picture& picture, std::span<const Peak> peaks) {
  const int size = std::max(1, std::max(picture.width, picture.height) / 320);  // of a digit's dot
  const double radius = 6.0 * size;
  const int reach = static_cast<int>(radius) + 2;
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    for (int dy = -reach; dy <= reach; ++dy) {
      for (int dx = -reach; dx <= reach; ++dx) {
        const double away = std::hypot(dx, dy);
        const double disc = std::clamp(radius + 0.5 - away, 0.0, 1.0);
        const double ring = std::clamp(size + 0.5 - std::abs(away - radius), 0.0, 1.0);
        blend_pixel(picture, peaks[i].x + dx, peaks[i].y + dy, {20, 20, 20}, 0.7 * disc);
        blend_pixel(picture, peaks[i].x + dx, peaks[i].y + dy, {255, 255, 255}, ring);
      }
    }
    draw_number(picture, static_cast<int>(i) + 1, peaks[i].x, peaks[i].y, size, {255, 255, 255});
  }
}

}  // namespace ubique::msinet
