// SPDX-License-Identifier: Apache-2.0
// Axis codes, axis moves and inverses of affines.
#include "ubique/data/scans/volume/orientation.h"

#include <cmath>

#include "tests/base/scratch.h"
#include "tests/data/scans/grids.h"

using namespace ubique;
using data::Affine;

namespace {

/// Voxel (i, j, k) of the result and the world point it has.
std::array<double, 3> world_of(const Affine& affine, const data::Shape3& voxel) {
  std::array<double, 3> point{};
  for (std::size_t row = 0; row < 3; ++row) {
    point[row] = affine[row][3];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      point[row] += affine[row][axis] * static_cast<double>(voxel[axis]);
    }
  }
  return point;
}

Affine turned_about_z(double degrees, const Affine& affine) {
  const double angle = degrees * 3.14159265358979323846 / 180;
  auto turn = test::straight({1, 1, 1});
  turn[0] = {std::cos(angle), -std::sin(angle), 0, 0};
  turn[1] = {std::sin(angle), std::cos(angle), 0, 0};
  return data::multiply(turn, affine);
}

}  // namespace

TEST_CASE("orientation: axis codes of straight, exchanged and flipped axes") {
  CHECK(data::axis_codes(test::straight({1, 1, 1})) == "RAS");
  CHECK(data::axis_codes(test::straight({-1.1, 0.9, -2.3})) == "LAI");
  const auto affine = test::straight({-1.7, -0.8, 1});
  CHECK(data::axis_codes(test::exchanged(affine, {2, 0, 1})) == "SLP");
  CHECK(data::axis_codes(test::exchanged(test::straight({-1, 1, -1}), {0, 2, 1})) == "LIA");
}

TEST_CASE("orientation: a rotation below 45 degrees keeps the codes, above it changes them") {
  const auto affine = test::straight({0.5, 2, 1});
  CHECK(data::axis_codes(turned_about_z(40, affine)) == "RAS");
  CHECK(data::axis_codes(turned_about_z(50, affine)) == "ALS");
  CHECK(data::axis_codes(turned_about_z(130, affine)) == "ALS");
  CHECK(data::axis_codes(turned_about_z(140, affine)) == "LPS");
}

TEST_CASE("orientation: a sheared grid is judged by the nearest rotation, not column by column") {
  // Column by column this would be RAS; nibabel says RIP.
  auto affine = test::straight({1, 1, 1});
  affine[0] = {1.2, -0.2, 0.9, 0};
  affine[1] = {0.4, 0.9, -0.8, 0};
  affine[2] = {0.2, -0.6, 0.1, 0};
  CHECK(data::axis_codes(affine) == "RIP");
}

TEST_CASE("orientation: an affine without three directions is refused") {
  auto affine = test::straight({1, 1, 0});
  CHECK(test::contains(test::refusal_of(ErrorKind::Input, [&] { data::axis_codes(affine); }),
                       "where axis 2 runs"));
  affine = test::straight({1, 1, 1});
  for (auto& row : affine) row[1] = row[0];
  test::refusal_of(ErrorKind::Input, [&] { data::axis_codes(affine); });
}

TEST_CASE("orientation: moving axes keeps the world position of every value") {
  const data::Shape3 shape{5, 37, 70};  // longer than a tile, and no multiple of it
  const std::array<std::array<std::size_t, 3>, 6> orders{
      {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  for (const auto& order : orders) {
    for (int flips = 0; flips < 8; ++flips) {
      const auto sign = [&](int axis) { return (flips >> axis & 1) != 0 ? -1.0 : 1.0; };
      const auto affine =
          test::exchanged(test::straight({sign(0), sign(1), sign(2)}, {3, -200, 1000}), order);
      const auto grid = test::grid_of<float>(shape, affine, [&](auto i, auto j, auto k) {
        const auto [x, y, z] = world_of(affine, {i, j, k});
        return x + 10 * y + 1000 * z;  // below 2^24: exact
      });
      const auto canonical = data::to_canonical(grid, 2);
      CHECK(data::axis_codes(canonical.affine) == "RAS");
      const auto expected =
          test::grid_of<float>(canonical.shape, canonical.affine, [&](auto i, auto j, auto k) {
            const auto [x, y, z] = world_of(canonical.affine, {i, j, k});
            return x + 10 * y + 1000 * z;
          });
      CHECK(canonical.values == expected.values);

      const auto moves = data::moves_to(affine, "RAS");
      const auto back = data::move_axes(canonical, data::inverse(moves));
      CHECK(back.shape == grid.shape);
      CHECK(test::distance(back.affine, grid.affine) == 0);
      CHECK(back.values == grid.values);
    }
  }
}

TEST_CASE("orientation: a grid can be brought into any axes by name") {
  const auto grid = test::noise({4, 5, 6}, test::straight({1, 2, 3}));
  const auto moved = data::move_axes(grid, data::moves_to(grid.affine, "LIA"));
  CHECK(data::axis_codes(moved.affine) == "LIA");
  CHECK(moved.shape == data::Shape3{4, 6, 5});
  CHECK(moved.at(0, 0, 0) == grid.at(3, 0, 5));
  CHECK(moved.at(3, 5, 4) == grid.at(0, 4, 0));
}

TEST_CASE("affine: an inverse undoes its affine, and a flat one is refused") {
  auto affine = turned_about_z(33, test::straight({0.7, 1.3, 4}, {10, -20, 30}));
  affine[2][0] = 0.2;  // shear
  const auto identity = data::multiply(data::inverse(affine), affine);
  CHECK(test::distance(identity, test::straight({1, 1, 1})) < 1e-13);
  CHECK(data::voxel_volume(affine) == doctest::Approx(0.7 * 1.3 * 4));
  const auto spacing = data::spacing_of(affine);
  CHECK(spacing[1] == doctest::Approx(1.3));
  test::refusal_of(ErrorKind::Input, [] { data::inverse(test::straight({1, 0, 1})); });
}
