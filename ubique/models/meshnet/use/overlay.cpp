// SPDX-License-Identifier: Apache-2.0
// Chooses slices and paints them: grey scan, labels blended or outlined.
#include "ubique/models/meshnet/use/overlay.h"

#include <algorithm>
#include <cmath>

#include "ubique/data/scans/volume/orientation.h"

namespace ubique::meshnet {
namespace {

using data::LabelMap;
using data::Shape3;
using data::Volume;

constexpr int kPlaneWidth = 256;  // pixels of the longest axis
constexpr int kGap = 8;

/// A slice of the RAS grid: the axis it is perpendicular to (`across`) and the axes of its columns
/// and rows. `flip_columns` runs columns from high to low.
struct Plane {
  int across, column, row;
  bool flip_columns;
};

constexpr std::array<Plane, 3> kPlanes = {{
    {2, 0, 1, true},  // axial: right to left, front up
    {1, 0, 2, true},  // coronal: right to left, top up
    {0, 1, 2, true},  // sagittal: nose to the left, top up
}};

struct Window {
  float low = 0, high = 1;
};

/// The range of the middle 99 % of the values, so that a few bright voxels do not darken the rest.
Window display_window(const Volume& scan) {
  std::vector<float> sample;
  const std::size_t step = std::max<std::size_t>(1, scan.values.size() / 100000);
  for (std::size_t i = 0; i < scan.values.size(); i += step) sample.push_back(scan.values[i]);
  const auto quantile = [&](double share) {
    const auto index = static_cast<std::ptrdiff_t>(share * static_cast<double>(sample.size() - 1));
    std::nth_element(sample.begin(), sample.begin() + index, sample.end());
    return sample[static_cast<std::size_t>(index)];
  };
  const float low = quantile(0.005), high = quantile(0.995);
  return {low, high > low ? high : low + 1};
}

/// The slice of each axis with the most labelled voxels; the middle one if there are none.
Shape3 fullest_slices(const LabelMap& labels) {
  std::array<std::vector<std::int64_t>, 3> counts;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    counts[axis].resize(static_cast<std::size_t>(labels.shape[axis]));
  }
  for (std::int64_t i = 0; i < labels.shape[0]; ++i) {
    for (std::int64_t j = 0; j < labels.shape[1]; ++j) {
      for (std::int64_t k = 0; k < labels.shape[2]; ++k) {
        if (labels.at(i, j, k) == 0) continue;
        ++counts[0][static_cast<std::size_t>(i)];
        ++counts[1][static_cast<std::size_t>(j)];
        ++counts[2][static_cast<std::size_t>(k)];
      }
    }
  }
  Shape3 slices{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto most = std::max_element(counts[axis].begin(), counts[axis].end());
    slices[axis] = *most > 0 ? most - counts[axis].begin() : labels.shape[axis] / 2;
  }
  return slices;
}

bool on_border(const LabelMap& labels, const Shape3& at, const Plane& plane) {
  const auto label = labels.at(at[0], at[1], at[2]);
  for (const int axis : {plane.column, plane.row}) {
    for (const int step : {-1, 1}) {
      auto next = at;
      auto& index = next[static_cast<std::size_t>(axis)];
      index += step;
      if (index < 0 || index >= labels.shape[static_cast<std::size_t>(axis)]) continue;
      if (labels.at(next[0], next[1], next[2]) != label) return true;
    }
  }
  return false;
}

class Painter {
 public:
  Painter(const Volume& scan, const OverlayOptions& options)
      : scan_(scan),
        options_(options),
        window_(display_window(scan)),
        spacing_(data::spacing_of(scan.affine)) {
    double longest = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) longest = std::max(longest, extent(axis));
    pixels_per_mm_ = kPlaneWidth / longest;
  }

  int width(const Plane& plane) const { return pixels(plane.column); }
  int height(const Plane& plane) const { return pixels(plane.row); }

  void paint(io::Picture& picture, int left, int top, const Plane& plane, const Shape3& cut,
             const LabelMap& labels) const {
    const int columns = width(plane), rows = height(plane);
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < columns; ++x) {
        auto at = cut;
        at[axis(plane.column)] = voxel(plane.column, plane.flip_columns ? columns - 1 - x : x);
        at[axis(plane.row)] = voxel(plane.row, rows - 1 - y);
        const auto grey = grey_at(at, plane, x, y);
        const auto colour = colour_at(at, plane, labels, grey);
        auto* pixel =
            &picture.pixels[static_cast<std::size_t>(3 * ((top + y) * picture.width + left + x))];
        std::copy(colour.begin(), colour.end(), pixel);
      }
    }
  }

 private:
  static std::size_t axis(int number) { return static_cast<std::size_t>(number); }
  double extent(std::size_t a) const { return static_cast<double>(scan_.shape[a]) * spacing_[a]; }
  int pixels(int a) const {
    return std::max(1, static_cast<int>(std::lround(extent(axis(a)) * pixels_per_mm_)));
  }
  std::int64_t voxel(int a, int pixel) const {
    const double share = (pixel + 0.5) / pixels(a);
    const auto size = scan_.shape[axis(a)];
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(share * static_cast<double>(size)), 0,
                                    size - 1);
  }
  /// The two voxels that a pixel lies between along an axis, and the weight of the upper one.
  struct Between {
    std::int64_t lower, upper;
    float weight;
  };
  Between between(int a, int pixel) const {
    const auto last = scan_.shape[axis(a)] - 1;
    const double at = (pixel + 0.5) / pixels(a) * static_cast<double>(last + 1) - 0.5;
    const double inside = std::clamp(at, 0.0, static_cast<double>(last));
    const auto lower = static_cast<std::int64_t>(inside);
    return {lower, std::min(lower + 1, last),
            static_cast<float>(inside - static_cast<double>(lower))};
  }

  /// Interpolates linearly, because thick slices span many pixels.
  std::uint8_t grey_at(Shape3 at, const Plane& plane, int x, int y) const {
    const auto across = between(plane.column, plane.flip_columns ? width(plane) - 1 - x : x);
    const auto up = between(plane.row, height(plane) - 1 - y);
    const auto row_value = [&](std::int64_t row) {
      at[axis(plane.row)] = row;
      at[axis(plane.column)] = across.lower;
      const float first = scan_.at(at[0], at[1], at[2]);
      at[axis(plane.column)] = across.upper;
      return first + (scan_.at(at[0], at[1], at[2]) - first) * across.weight;
    };
    const float below = row_value(up.lower);
    const float value = below + (row_value(up.upper) - below) * up.weight;
    const float share = std::clamp((value - window_.low) / (window_.high - window_.low), 0.F, 1.F);
    return static_cast<std::uint8_t>(std::lround(share * 255));
  }

  std::array<std::uint8_t, 3> colour_at(const Shape3& at, const Plane& plane,
                                        const LabelMap& labels, std::uint8_t grey) const {
    const auto label = labels.at(at[0], at[1], at[2]);
    if (label == 0 || (options_.outline && !on_border(labels, at, plane))) {
      return {grey, grey, grey};
    }
    const auto colour =
        label < options_.labels.size() ? options_.labels[label].colour : palette_colour(label);
    const double alpha = options_.outline ? 1 : options_.alpha;
    std::array<std::uint8_t, 3> mixed{};
    for (std::size_t c = 0; c < 3; ++c) {
      mixed[c] = static_cast<std::uint8_t>(std::lround((1 - alpha) * grey + alpha * colour[c]));
    }
    return mixed;
  }

  const Volume& scan_;
  const OverlayOptions& options_;
  Window window_;
  std::array<double, 3> spacing_;
  double pixels_per_mm_ = 1;
};

}  // namespace

io::Picture draw_overlay(const Volume& scan, const LabelMap& labels, const OverlayOptions& options,
                         const LabelMap* truth) {
  const auto ras = data::to_canonical(scan);
  std::vector<LabelMap> rows = {data::to_canonical(labels)};
  if (truth != nullptr) rows.push_back(data::to_canonical(*truth));
  const Painter painter(ras, options);
  const auto cut = fullest_slices(rows.back());

  io::Picture picture;
  int row_height = 0;
  for (const auto& plane : kPlanes) {
    picture.width += painter.width(plane) + (picture.width > 0 ? kGap : 0);
    row_height = std::max(row_height, painter.height(plane));
  }
  const int count = static_cast<int>(rows.size());
  picture.height = count * row_height + (count - 1) * kGap;
  picture.pixels.assign(static_cast<std::size_t>(3 * picture.width * picture.height), 0);
  for (int row = 0; row < count; ++row) {
    int left = 0;
    for (const auto& plane : kPlanes) {
      const int top = row * (row_height + kGap) + (row_height - painter.height(plane)) / 2;
      painter.paint(picture, left, top, plane, cut, rows[static_cast<std::size_t>(row)]);
      left += painter.width(plane) + kGap;
    }
  }
  return picture;
}

}  // namespace ubique::meshnet
