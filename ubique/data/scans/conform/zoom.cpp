// SPDX-License-Identifier: Apache-2.0
// SciPy's zoom to the last bit of its coordinates, on the part that the crop leaves.
#include <algorithm>
#include <cmath>

#include "ubique/base/error.h"
#include "ubique/data/scans/conform/methods.h"

namespace ubique::data {
namespace {

/// One axis on its way from n voxels to the target's: zoomed to m, cropped, padded.
struct ZoomAxis {
  std::int64_t length;  // n
  std::int64_t zoomed;  // m
  std::int64_t target;  // after crop and pad
  std::int64_t offset;  // zoomed voxel = target voxel + offset
  double step;          // source voxels per zoomed voxel
};

ZoomAxis zoom_axis(std::int64_t length, double spacing, std::int64_t target,
                   double target_spacing) {
  // nearbyint: halves to even, as Python rounds.
  const double zoomed = std::nearbyint(static_cast<double>(length) * (spacing / target_spacing));
  check(zoomed >= 1, ErrorKind::Input,
        "[data.conform] the scan is too thin for this target; got {} voxels of {} mm along one "
        "axis, expected at least half a voxel of {} mm.",
        length, spacing, target_spacing);
  check(zoomed < 0x1p40, ErrorKind::Input,
        "[data.conform] the scan is too large for this target; got {} voxels of {} mm along one "
        "axis. Is the spacing in its header right?",
        length, spacing);
  ZoomAxis axis{length, static_cast<std::int64_t>(zoomed), target, 0, 1};
  const bool crops = axis.zoomed > target;
  axis.offset = crops ? (axis.zoomed - target) / 2 : -((target - axis.zoomed) / 2);
  if (axis.zoomed > 1) {
    axis.step = static_cast<double>(length - 1) / static_cast<double>(axis.zoomed - 1);
  }
  return axis;
}

std::array<ZoomAxis, 3> zoom_axes(const Shape3& shape, const Affine& affine,
                                  const TargetGrid& target) {
  const auto spacing = spacing_of(affine);
  const auto axis = [&](std::size_t i) {
    return zoom_axis(shape[i], spacing[i], target.shape[i], target.spacing[i]);
  };
  return {axis(0), axis(1), axis(2)};
}

enum class Order { Nearest, Linear };

AxisTable zoom_table(const ZoomAxis& axis, Order order) {
  AxisTable table;
  const double last = static_cast<double>(axis.length - 1);
  for (std::int64_t i = 0; i < axis.target; ++i) {
    const auto zoomed = i + axis.offset;
    const double x = static_cast<double>(zoomed) * axis.step;
    // SciPy's quirk is kept: where the product rounds to above the last voxel, that plane is
    // outside and comes out as zeros.
    const bool inside = zoomed >= 0 && zoomed < axis.zoomed && x <= last;
    const double lower = !inside ? -1 : std::floor(order == Order::Nearest ? x + 0.5 : x);
    table.lower.push_back(static_cast<std::int64_t>(lower));
    table.weight.push_back(inside && order == Order::Linear ? x - lower : 0);
  }
  return table;
}

AxisTables zoom_tables(const std::array<ZoomAxis, 3>& axes, Order order) {
  return {zoom_table(axes[0], order), zoom_table(axes[1], order), zoom_table(axes[2], order)};
}

/// Which voxel of the source each voxel of the result came from, in the world.
Affine zoomed_affine(const Affine& canonical, const std::array<ZoomAxis, 3>& axes) {
  Affine to_source{};
  to_source[3][3] = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& axis = axes[i];
    // One voxel has no corners to align: there the extents of the two grids are made the same.
    const bool aligned = axis.length > 1 && axis.zoomed > 1;
    const double step =
        aligned ? axis.step : static_cast<double>(axis.length) / static_cast<double>(axis.zoomed);
    const double start = aligned ? 0 : 0.5 * step - 0.5;
    to_source[i][i] = step;
    to_source[i][3] = start + step * static_cast<double>(axis.offset);
  }
  return multiply(canonical, to_source);
}

}  // namespace

Volume zoom_to(const Volume& canonical, const TargetGrid& target, int threads) {
  const auto axes = zoom_axes(canonical.shape, canonical.affine, target);
  auto zoomed =
      resample_linear(canonical, zoom_tables(axes, Order::Linear), Rounding::None, threads);
  zoomed.affine = zoomed_affine(canonical.affine, axes);
  return zoomed;
}

LabelMap zoom_to(const LabelMap& canonical, const TargetGrid& target, int threads) {
  const auto axes = zoom_axes(canonical.shape, canonical.affine, target);
  auto zoomed = resample_nearest(canonical, zoom_tables(axes, Order::Nearest), threads);
  zoomed.affine = zoomed_affine(canonical.affine, axes);
  return zoomed;
}

}  // namespace ubique::data
