// SPDX-License-Identifier: Apache-2.0
// From the scan's grid to the conformed one and back.
#include <algorithm>
#include <cmath>

#include "tests/data/scans/grids.h"
#include "ubique/data/scans/conform/conform.h"
#include "ubique/data/scans/conform/native.h"
#include "ubique/data/scans/volume/orientation.h"

using namespace ubique;
using data::ConformMethod;
using data::ConformTarget;

namespace {

constexpr ConformMethod kAllMethods[] = {ConformMethod::ScipyZoom, ConformMethod::NibabelConform,
                                         ConformMethod::Brainchop, ConformMethod::None};

data::Affine turned(const data::Affine& affine, double degrees) {
  const double angle = degrees * 3.14159265358979323846 / 180;
  auto turn = test::straight({1, 1, 1});
  turn[1] = {0, std::cos(angle), -std::sin(angle), 0};
  turn[2] = {0, std::sin(angle), std::cos(angle), 0};
  return data::multiply(turn, affine);
}

/// Three balls of labels 1, 2, 3 in a grid.
data::LabelMap balls(const data::Shape3& shape, const data::Affine& affine) {
  return test::grid_of<std::uint8_t>(shape, affine, [&](auto i, auto j, auto k) {
    const data::Shape3 voxel{i, j, k};
    if (test::in_ball(voxel, {8, 9, 7}, 4.2)) return 1;
    if (test::in_ball(voxel, {15, 17, 13}, 3.1)) return 2;
    return test::in_ball(voxel, {6, 18, 14}, 2.6) ? 3 : 0;
  });
}

/// Share of all voxels that are different, and whether each of them has a neighbour of the other
/// label: a difference anywhere else is a displacement.
struct Difference {
  double share = 0;
  bool only_at_edges = true;
};

bool has_neighbour(const data::LabelMap& labels, const data::Shape3& voxel, std::uint8_t label) {
  for (int step = 0; step < 27; ++step) {
    const data::Shape3 at{voxel[0] + step / 9 - 1, voxel[1] + step / 3 % 3 - 1,
                          voxel[2] + step % 3 - 1};
    bool inside = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      inside = inside && at[axis] >= 0 && at[axis] < labels.shape[axis];
    }
    if (inside && labels.at(at[0], at[1], at[2]) == label) return true;
  }
  return false;
}

Difference difference(const data::LabelMap& found, const data::LabelMap& expected) {
  REQUIRE(found.shape == expected.shape);
  Difference result;
  for (std::int64_t i = 0; i < found.shape[0]; ++i) {
    for (std::int64_t j = 0; j < found.shape[1]; ++j) {
      for (std::int64_t k = 0; k < found.shape[2]; ++k) {
        if (found.at(i, j, k) == expected.at(i, j, k)) continue;
        result.share += 1;
        if (!has_neighbour(expected, {i, j, k}, found.at(i, j, k))) result.only_at_edges = false;
      }
    }
  }
  result.share /= static_cast<double>(found.values.size());
  return result;
}

}  // namespace

TEST_CASE("native: a mask is restored except at its edge, for every method and orientation") {
  const data::Shape3 shape{24, 26, 21};
  const auto straight = test::straight({1.2, -0.9, 1.1}, {-10, 20, 5});
  for (const auto& affine :
       {straight, test::exchanged(straight, {2, 0, 1}), turned(straight, 20)}) {
    auto labels = balls(shape, affine);
    for (auto& label : labels.values) label = label > 0 ? 1 : 0;
    const auto scan = test::scan_of(labels);
    for (const auto method : kAllMethods) {
      for (const auto& spacing : {data::Spacing3(0.7), data::Spacing3(0.6, 0.8, 0.7)}) {
        CAPTURE(data::to_string(method));
        CAPTURE(spacing[0]);
        const ConformTarget target{method, {64, 64, 64}, spacing};
        const auto back = data::to_native(data::conform_mask(scan, scan, target, 2), scan, 2);
        CHECK(test::distance(back.affine, affine) == 0);
        const auto found = difference(back, labels);
        CHECK(found.only_at_edges);
        CHECK(found.share < 0.01);
      }
    }
  }
}

TEST_CASE("native: doubling the resolution and back changes nothing") {
  const auto labels = balls({24, 26, 21}, test::straight({2, 2, 2}));
  const auto scan = test::scan_of(labels);
  auto mask = labels;
  for (auto& label : mask.values) label = label > 0 ? 1 : 0;
  for (const auto method : {ConformMethod::ScipyZoom, ConformMethod::NibabelConform}) {
    const auto cube = data::conform_mask(scan, scan, {method, {64, 64, 64}, 1});
    CHECK(data::to_native(cube, scan).values == mask.values);
  }
}

TEST_CASE("native: labels on the scan's own grid are restored exactly, in its axes") {
  const auto affine = test::exchanged(test::straight({-1, 1.5, -2}), {1, 2, 0});
  const auto labels = balls({24, 26, 21}, affine);
  const auto scan = test::scan_of(labels);
  CHECK(data::to_native(labels, scan).values == labels.values);
  CHECK(data::to_native(data::to_canonical(labels), scan, 3).values == labels.values);
}

TEST_CASE("native: cropped voxels are 0") {
  const auto ones = test::grid_of<std::uint8_t>({8, 8, 8}, test::straight({1, 1, 1}),
                                                [](auto, auto, auto) { return 1; });
  const auto scan = test::scan_of(ones);
  const auto cube = data::conform_mask(scan, scan, {ConformMethod::ScipyZoom, {4, 8, 8}, 1});
  const auto back = data::to_native(cube, scan);
  for (std::int64_t i = 0; i < 8; ++i) CHECK(back.at(i, 3, 3) == (i >= 2 && i < 6 ? 1 : 0));
}

TEST_CASE("native: an axis of one voxel is restored") {
  for (const double spacing : {0.6, 1.0, 5.0}) {
    const auto slice =
        test::grid_of<std::uint8_t>({6, 7, 1}, test::straight({1, 1, spacing}, {4, 5, 6}),
                                    [](auto i, auto j, auto) { return (i + j) % 2; });
    const auto scan = test::scan_of(slice);
    const auto cube = data::conform_mask(scan, scan, {ConformMethod::ScipyZoom, {9, 9, 9}, 1});
    CHECK(data::to_native(cube, scan).values == slice.values);
  }
}

TEST_CASE("native: probabilities are linear between conformed voxels and 0 outside their grid") {
  // Conformed voxels at x = 0, 2, 4; native ones at x = -2, -1, ..., 6.
  const data::Volume cube{{3, 1, 1}, test::straight({2, 1, 1}), {0.0F, 1.0F, 0.5F}};
  const auto scan = test::scan_of(test::noise({9, 1, 1}, test::straight({1, 1, 1}, {-2, 0, 0})));
  CHECK(data::to_native(cube, scan).values ==
        std::vector<float>{0, 0, 0, 0.5, 1, 0.75, 0.5, 0.5, 0});
}

TEST_CASE("native: smooth probabilities survive the round trip") {
  const auto affine = turned(test::straight({1.2, 0.9, -1.1}), 15);
  const auto volume = test::grid_of<float>({24, 26, 21}, affine, [](auto i, auto j, auto k) {
    return 0.5 + 0.02 * static_cast<double>(i) - 0.01 * static_cast<double>(j) +
           0.005 * static_cast<double>(k);
  });
  const auto scan = test::scan_of(volume);
  for (const auto method :
       {ConformMethod::ScipyZoom, ConformMethod::NibabelConform, ConformMethod::None}) {
    CAPTURE(data::to_string(method));
    const auto cube = data::conform(scan, {method, {48, 48, 48}, 0.8}, 2);
    const auto back = data::to_native(cube, scan, 2);
    double largest = 0;
    for (std::int64_t i = 2; i < 22; ++i) {  // inside; a face may have lost its last plane
      for (std::int64_t j = 2; j < 24; ++j) {
        for (std::int64_t k = 2; k < 19; ++k) {
          largest = std::max(largest, std::abs(double{back.at(i, j, k)} - volume.at(i, j, k)));
        }
      }
    }
    CHECK(largest < 1e-6);
  }
}
