// SPDX-License-Identifier: Apache-2.0
// Colours: the palettes run through a few anchors of our own choosing, dark to light, so that they
// also read in grey; jet is the usual formula.
#include "ubique/models/msinet/heatmap.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ubique/base/error.h"
#include "ubique/base/text.h"

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
  const double place = share * static_cast<double>(anchors.size() - 1);
  const auto lower = std::min(static_cast<std::size_t>(place), anchors.size() - 2);
  const double part = place - static_cast<double>(lower);
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

/// 256 colours at once: a picture has more pixels than that.
std::array<Colour, 256> palette_table(Palette palette) {
  std::array<Colour, 256> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = palette_colour(palette, static_cast<double>(i) / 255);
  }
  return table;
}

/// Where a value stands between the map's lowest and highest.
double share_of(const MeasuredMap<float>& map, float value) {
  return map.constant() ? 0 : (static_cast<double>(value) - map.min) / (map.max - map.min);
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

io::Picture as_rgb(const io::Picture& image) {
  io::Picture rgb{image.width, image.height, 3, {}};
  const auto channels = static_cast<std::size_t>(image.channels);
  rgb.pixels.reserve(image.pixels.size() / channels * 3);
  for (std::size_t i = 0; i + channels <= image.pixels.size(); i += channels) {
    for (std::size_t c = 0; c < 3; ++c) {
      rgb.pixels.push_back(image.pixels[i + (channels < 3 ? 0 : c)]);
    }
  }
  return rgb;
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

io::Picture colour_picture(const MeasuredMap<float>& map, Palette palette) {
  const auto table = palette_table(palette);
  io::Picture picture{map.width, map.height, 3, {}};
  picture.pixels.reserve(3 * map.values.size());
  for (const float value : map.values) {
    const auto& colour = table[static_cast<std::size_t>(std::lround(255 * share_of(map, value)))];
    picture.pixels.insert(picture.pixels.end(), colour.begin(), colour.end());
  }
  return picture;
}

std::vector<Peak> find_peaks(const MeasuredMap<float>& map, int count, double radius) {
  check(count >= 0 && radius >= 0, ErrorKind::Usage,
        "[msinet.heatmap] peaks cannot be found like this; got {} of them {} pixels apart, "
        "expected no negative numbers.",
        count, radius);
  std::vector<float> left(map.values.begin(), map.values.end());
  const auto gone = -std::numeric_limits<float>::infinity();
  std::vector<Peak> peaks;
  while (peaks.size() < static_cast<std::size_t>(count)) {
    const auto highest = std::max_element(left.begin(), left.end());
    if (*highest == gone || static_cast<double>(*highest) <= map.min) break;
    const auto index = highest - left.begin();
    const Peak peak{static_cast<int>(index % map.width), static_cast<int>(index / map.width),
                    *highest};
    peaks.push_back(peak);
    const double reach = std::min(radius, static_cast<double>(map.width) + map.height);
    const int whole = static_cast<int>(reach);
    for (int y = std::max(0, peak.y - whole); y <= std::min(map.height - 1, peak.y + whole); ++y) {
      for (int x = std::max(0, peak.x - whole); x <= std::min(map.width - 1, peak.x + whole); ++x) {
        if (std::hypot(x - peak.x, y - peak.y) > reach) continue;
        left[static_cast<std::size_t>(y) * static_cast<std::size_t>(map.width) +
             static_cast<std::size_t>(x)] = gone;
      }
    }
  }
  return peaks;
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

io::Picture draw_heatmap(const io::Picture& image, const MeasuredMap<float>& map,
                         const HeatmapStyle& style) {
  check_style(style);
  check(image.width == map.width && image.height == map.height, ErrorKind::Input,
        "[msinet.heatmap] the map does not fit the image; got {} x {}, expected {} x {}. Resize "
        "the map first.",
        map.width, map.height, image.width, image.height);
  auto picture = as_rgb(image);
  const auto table = palette_table(style.palette);
  std::size_t place = 0;
  for (int y = 0; y < map.height; ++y) {
    for (int x = 0; x < map.width; ++x) {
      const double share = share_of(map, map.values[place++]);
      const double opacity = style.fade ? style.alpha * std::sqrt(share) : style.alpha;
      blend_pixel(picture, x, y, table[static_cast<std::size_t>(std::lround(255 * share))],
                  opacity);
    }
  }
  if (!map.constant()) {
    for (const double level : style.contours) {
      draw_contour(picture, map, map.min + level * (map.max - map.min), {255, 255, 255});
    }
  }
  const double apart =
      style.peak_radius > 0 ? style.peak_radius : std::max(map.width, map.height) / 8.0;
  draw_peaks(picture, find_peaks(map, style.peaks, apart));
  return picture;
}

}  // namespace ubique::msinet
