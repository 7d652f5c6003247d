// SPDX-License-Identifier: Apache-2.0
// Palettes, blending and peaks. The palettes interpolate a few anchor colours of our own, dark to
// light, so that they also work in greyscale; jet is the usual formula.
#include "ubique/models/msinet/use/heatmap.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"
#include "ubique/io/images/image.h"
#include "ubique/models/msinet/score/metric_pairs.h"

namespace ubique::msinet {
namespace {

constexpr std::array<Colour, 7> kInfernoAnchors = {{
    {2, 2, 8},
    {48, 12, 88},
    {112, 26, 108},
    {180, 48, 84},
    {232, 98, 40},
    {250, 174, 34},
    {252, 252, 170},
}};
constexpr std::array<Colour, 7> kViridisAnchors = {{
    {66, 6, 88},
    {66, 58, 130},
    {48, 104, 142},
    {34, 144, 140},
    {58, 182, 118},
    {144, 214, 66},
    {250, 230, 40},
}};
constexpr std::array<std::string_view, 4> kPaletteNames = {"inferno", "viridis", "jet", "grey"};

Colour between_anchors(std::span<const Colour> anchors, double share) {
  const double position = share * static_cast<double>(anchors.size() - 1);
  const auto lower = std::min(static_cast<std::size_t>(position), anchors.size() - 2);
  const double part = position - static_cast<double>(lower);
  Colour colour{};
  for (std::size_t c = 0; c < 3; ++c) {
    const double value = anchors[lower][c] * (1 - part) + anchors[lower + 1][c] * part;
    colour[c] = static_cast<std::uint8_t>(std::lround(value));
  }
  return colour;
}

Colour jet_colour(double share) {
  Colour colour{};
  for (std::size_t c = 0; c < 3; ++c) {
    const double peak = 3 - static_cast<double>(c);
    const double value = std::clamp(1.5 - std::abs(4 * share - peak), 0.0, 1.0);
    colour[c] = static_cast<std::uint8_t>(std::lround(255 * value));
  }
  return colour;
}

// Colours are computed once per level, not per pixel.
constexpr std::size_t kLevels = 1024;

/// The level of a value in the map's range.
class LevelScale {
 public:
  explicit LevelScale(const MeasuredMap<float>& map)
      : least_(static_cast<float>(map.min)),
        scale_(map.constant() ? 0 : static_cast<float>((kLevels - 1) / (map.max - map.min))) {}

  std::size_t operator()(float value) const {
    return std::min(static_cast<std::size_t>((value - least_) * scale_ + 0.5F), kLevels - 1);
  }

 private:
  float least_, scale_;
};

/// Blending in fixed point: new pixel = (kept * pixel + added) / 2^16.
struct LevelBlend {
  int kept = 0;
  std::array<int, 3> added{};
};

std::vector<LevelBlend> level_blends(const HeatmapStyle& style) {
  constexpr double kOne = 1 << 16;
  std::vector<LevelBlend> blends(kLevels);
  for (std::size_t i = 0; i < kLevels; ++i) {
    const double share = static_cast<double>(i) / (kLevels - 1);
    const double opacity = style.fade ? style.alpha * std::sqrt(share) : style.alpha;
    const auto colour = palette_colour(style.palette, share);
    blends[i].kept = static_cast<int>(std::lround(kOne * (1 - opacity)));
    for (std::size_t c = 0; c < 3; ++c) {
      blends[i].added[c] = static_cast<int>(std::lround(kOne * (opacity * colour[c] + 0.5)));
    }
  }
  return blends;
}

void blend_map(io::Picture& picture, const MeasuredMap<float>& map, const HeatmapStyle& style) {
  const auto blends = level_blends(style);
  const LevelScale level(map);
  auto* pixel = picture.pixels.data();
  for (const float value : map.values) {
    const auto& blend = blends[level(value)];
    for (std::size_t c = 0; c < 3; ++c, ++pixel) {
      *pixel = static_cast<std::uint8_t>((blend.kept * *pixel + blend.added[c]) >> 16);
    }
  }
}

constexpr float kTaken = -std::numeric_limits<float>::infinity();

/// Marks the pixels of a disc as taken and returns the mass that was in it.
double take_disc(std::vector<float>& left, const MeasuredMap<float>& map, const Peak& peak,
                 double radius, const DensityRule& density) {
  const double reach = std::min(radius, static_cast<double>(map.width) + map.height);
  const int whole = static_cast<int>(reach);
  double mass = 0;
  for (int y = std::max(0, peak.y - whole); y <= std::min(map.height - 1, peak.y + whole); ++y) {
    for (int x = std::max(0, peak.x - whole); x <= std::min(map.width - 1, peak.x + whole); ++x) {
      auto& value = left[static_cast<std::size_t>(y) * static_cast<std::size_t>(map.width) +
                         static_cast<std::size_t>(x)];
      if (value == kTaken || std::hypot(x - peak.x, y - peak.y) > reach) continue;
      mass += density(static_cast<double>(value));
      value = kTaken;
    }
  }
  return mass;
}

}  // namespace

Palette parse_palette(std::string_view text) {
  for (std::size_t i = 0; i < kPaletteNames.size(); ++i) {
    if (text == kPaletteNames[i]) return static_cast<Palette>(i);
  }
  const std::vector<std::string> names(kPaletteNames.begin(), kPaletteNames.end());
  fail(ErrorKind::Usage, "[msinet.heatmap] unknown palette; got '{}', expected one of {}.{}", text,
       join(names, ", "), hint(text, names));
}

Colour palette_colour(Palette palette, double share) {
  share = share > 0 ? std::min(share, 1.0) : 0;
  if (palette == Palette::Jet) return jet_colour(share);
  if (palette == Palette::Inferno) return between_anchors(kInfernoAnchors, share);
  if (palette == Palette::Viridis) return between_anchors(kViridisAnchors, share);
  const auto grey = static_cast<std::uint8_t>(std::lround(255 * share));
  return {grey, grey, grey};
}

void check_style(const HeatmapStyle& style) {
  check(style.alpha >= 0 && style.alpha <= 1, ErrorKind::Usage,
        "[msinet.heatmap] the opacity is not a share; got {}, expected 0 to 1.", style.alpha);
  for (const double level : style.contours) {
    check(level >= 0 && level <= 1, ErrorKind::Usage,
          "[msinet.heatmap] a contour level is not a share of the map's range; got {}, expected 0 "
          "to 1.",
          level);
  }
}

io::Picture colour_picture(const MeasuredMap<float>& map, Palette palette) {
  io::Picture picture{map.width, map.height, 3, std::vector<std::uint8_t>(3 * map.values.size())};
  HeatmapStyle style;
  style.palette = palette;
  style.alpha = 1;
  style.fade = false;
  blend_map(picture, map, style);
  return picture;
}

std::vector<Peak> find_peaks(const MeasuredMap<float>& map, int count, double radius) {
  check(count >= 0 && radius >= 0, ErrorKind::Usage,
        "[msinet.heatmap] negative count or distance of peaks; got {} peaks, {} pixels apart, "
        "expected 0 or more.",
        count, radius);
  const auto density = density_rule(map, Definition::Tuebingen);
  std::vector<float> left(map.values.begin(), map.values.end());
  std::vector<Peak> peaks;
  while (peaks.size() < static_cast<std::size_t>(count)) {
    const auto highest = std::max_element(left.begin(), left.end());
    if (*highest == kTaken || static_cast<double>(*highest) <= map.min) break;
    const auto index = highest - left.begin();
    Peak peak{static_cast<int>(index % map.width), static_cast<int>(index / map.width), *highest};
    peak.share = take_disc(left, map, peak, radius, density);
    peaks.push_back(peak);
  }
  return peaks;
}

double peak_distance(const MeasuredMap<float>& map) {
  return std::max(map.width, map.height) / 8.0;
}

void blend_pixel(io::Picture& picture, int x, int y, const Colour& colour, double opacity) {
  if (x < 0 || y < 0 || x >= picture.width || y >= picture.height) return;
  auto* pixel = picture.pixels.data() +
                3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width) +
                     static_cast<std::size_t>(x));
  for (std::size_t c = 0; c < 3; ++c) {
    pixel[c] =
        static_cast<std::uint8_t>(std::lround((1 - opacity) * pixel[c] + opacity * colour[c]));
  }
}

io::Picture side_by_side(const io::Picture& left, const io::Picture& right) {
  io::Picture both{left.width + right.width, left.height, 3, {}};
  both.pixels.resize(left.pixels.size() + right.pixels.size());
  const auto row = static_cast<std::size_t>(left.width) * 3;
  for (std::size_t y = 0; y < static_cast<std::size_t>(left.height); ++y) {
    auto* to = both.pixels.data() + 2 * y * row;
    std::memcpy(to, left.pixels.data() + y * row, row);
    std::memcpy(to + row, right.pixels.data() + y * row, row);
  }
  return both;
}

io::Picture draw_heatmap(const io::Picture& image, const MeasuredMap<float>& map,
                         const HeatmapStyle& style) {
  check_style(style);
  check(image.width == map.width && image.height == map.height, ErrorKind::Input,
        "[msinet.heatmap] the map does not fit the image; got {} x {}, expected {} x {}. Resize "
        "the map first.",
        map.width, map.height, image.width, image.height);
  auto picture = io::as_rgb(image);
  blend_map(picture, map, style);
  if (!map.constant()) {
    for (const double level : style.contours) {
      draw_contour(picture, map, map.min + level * (map.max - map.min), {255, 255, 255});
    }
  }
  if (style.peaks != 0) draw_peaks(picture, find_peaks(map, style.peaks, peak_distance(map)));
  return picture;
}

}  // namespace ubique::msinet
