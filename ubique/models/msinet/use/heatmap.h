// SPDX-License-Identifier: Apache-2.0
// Drawing saliency maps: in colour, blended over the image, with contours and the points where a
// viewer would look first. Works on pictures in memory; no files.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ubique/io/images/png.h"
#include "ubique/models/msinet/score/metric.h"

namespace ubique::msinet {

enum class Palette { Inferno, Viridis, Jet, Grey };
using Colour = std::array<std::uint8_t, 3>;

Palette parse_palette(std::string_view text);          ///< Usage error for an unknown name
Colour palette_colour(Palette palette, double share);  ///< share from 0 to 1, clamped

/// The map's range mapped to the palette; a constant map gets the palette's lowest colour.
io::Picture colour_picture(const MeasuredMap<float>& map, Palette palette);

/// A local maximum in pixels, the map's value there, and the share of the map's mass in the disc
/// around it (without the discs of earlier peaks).
struct Peak {
  int x = 0, y = 0;
  float value = 0;
  double share = 0;
};

/// The highest pixel, then the highest outside of a disc around it, and so on; fewer than `count`
/// if nothing above the map's minimum is left. Usage error for a negative count or radius.
std::vector<Peak> find_peaks(const MeasuredMap<float>& map, int count, double radius);
/// The default radius: an eighth of the longer side.
double peak_distance(const MeasuredMap<float>& map);

struct HeatmapStyle {
  Palette palette = Palette::Inferno;
  double alpha = 0.6;            ///< opacity of the colours where the map is highest
  bool fade = true;              ///< opacity falls with the map; otherwise it is alpha everywhere
  std::vector<double> contours;  ///< levels to draw, as shares of the map's range
  int peaks = 0;                 ///< how many first fixations to mark
};

void check_style(const HeatmapStyle& style);  ///< Usage error for an alpha or level beyond 0..1

/// The map blended over the image (grey, RGB or RGBA, whose alpha is ignored), as RGB. Input error
/// if their sizes differ; Usage error as in check_style.
io::Picture draw_heatmap(const io::Picture& image, const MeasuredMap<float>& map,
                         const HeatmapStyle& style);

// Parts of draw_heatmap, on RGB pictures of the map's size.
/// Lines where the map crosses a value: marching squares between pixel centres, antialiased.
void draw_contour(io::Picture& picture, const MeasuredMap<float>& map, double value,
                  const Colour& colour);
/// Rings with the numbers 1, 2, ... in them.
void draw_peaks(io::Picture& picture, std::span<const Peak> peaks);

/// Two RGB pictures of one size as one of twice the width.
io::Picture side_by_side(const io::Picture& left, const io::Picture& right);

/// Mixes a colour into one pixel; does nothing outside of the picture.
void blend_pixel(io::Picture& picture, int x, int y, const Colour& colour, double opacity);

}  // namespace ubique::msinet
