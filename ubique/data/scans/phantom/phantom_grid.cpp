// SPDX-License-Identifier: Apache-2.0
// Voxel grids as scanners and export programs produce them: thick slices, axes in any order and
// direction.
#include "ubique/data/scans/phantom/phantom_grid.h"

#include <algorithm>
#include <cmath>

namespace ubique::data {
namespace {

std::array<double, 3> drawn_spacing(const PhantomOptions& options, bool thick, Draws& draws) {
  std::array<double, 3> spacing{};
  const auto slice_axis = static_cast<std::size_t>(draws.below(3));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double factor = draws.between(0.9, 1.1);
    if (thick) factor = axis == slice_axis ? draws.between(1.2, 1.6) : draws.between(0.82, 1);
    spacing[axis] = options.spacing() * (options.varied_grids ? factor : 1);
  }
  return spacing;
}

/// Which world axis each array axis runs along, and whether backwards.
struct AxisOrder {
  std::array<std::size_t, 3> world{0, 1, 2};
  std::array<double, 3> sign{1, 1, 1};
};

AxisOrder drawn_order(bool varied, Draws& draws) {
  AxisOrder order;
  for (std::size_t i = 2; i > 0; --i) {
    const auto other = static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(i) + 1));
    if (varied) std::swap(order.world[i], order.world[other]);
  }
  for (auto& sign : order.sign) {
    if (draws.chance(0.5) && varied) sign = -1;
  }
  return order;
}

Point unit_vector(std::size_t axis, double length) {
  return {axis == 0 ? length : 0, axis == 1 ? length : 0, axis == 2 ? length : 0};
}

}  // namespace

Protocol choose_protocol(const Random& random) {
  Draws draws(random);
  if (draws.chance(0.5)) return {"space_2x", draws.between(24, 40), false};
  return {"space_no_accel", draws.between(14, 26), true};
}

ScanGrid make_grid(const PhantomOptions& options, const Protocol& protocol, const Random& random) {
  Draws draws(random);
  const auto spacing = drawn_spacing(options, protocol.thick_slices, draws);
  const auto order = drawn_order(options.varied_grids, draws);
  const Rotation turn(draws.within(0.06));  // up to some 7 degrees about each axis
  const Point shift = draws.within(3);
  const Point bed = draws.within(15);  // world position of the grid's centre
  const double size = draws.around(0.03);

  ScanGrid grid;
  Point centre;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto world = order.world[axis];
    grid.shape[axis] = std::max<std::int64_t>(
        8, static_cast<std::int64_t>(options.field_of_view / spacing[world] + 0.5));
    const double length = order.sign[axis] * spacing[world];
    grid.affine[world][axis] = length;
    grid.step[axis] = turn(unit_vector(world, length)) * size;
    centre =
        centre + unit_vector(world, length) * (0.5 * static_cast<double>(grid.shape[axis] - 1));
  }
  const Point corner = bed - centre;
  grid.affine[0][3] = corner.x;
  grid.affine[1][3] = corner.y;
  grid.affine[2][3] = corner.z;
  grid.affine[3][3] = 1;
  grid.origin = turn(Point{} - centre - shift) * size;
  return grid;
}

}  // namespace ubique::data
