// SPDX-License-Identifier: Apache-2.0
// Small grids and scans for tests, and the path of the golden ones.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <utility>

#include "ubique/base/numbers/random.h"
#include "ubique/data/scans/volume/scan.h"

namespace ubique::test {

inline const std::filesystem::path kGoldenScans =
    std::filesystem::path(UBIQUE_SOURCE_DIR) / ".." / "shared" / "golden" / "meshnet";

inline bool golden_scans_missing() {
  if (std::filesystem::exists(kGoldenScans)) return false;
  MESSAGE("skipped: no ", kGoldenScans.string());
  return true;
}

/// An axis-aligned affine; a negative spacing flips the axis.
inline data::Affine straight(std::array<double, 3> spacing, std::array<double, 3> origin = {}) {
  data::Affine affine{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    affine[axis][axis] = spacing[axis];
    affine[axis][3] = origin[axis];
  }
  affine[3][3] = 1;
  return affine;
}

/// The columns of an affine in another order: axis a of the result is axis order[a].
inline data::Affine exchanged(const data::Affine& affine, std::array<std::size_t, 3> order) {
  auto result = affine;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t row = 0; row < 3; ++row) result[row][axis] = affine[row][order[axis]];
  }
  return result;
}

template <typename T, typename Value>
data::Grid<T> grid_of(const data::Shape3& shape, const data::Affine& affine, const Value& value) {
  data::Grid<T> grid{shape, affine, {}};
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    for (std::int64_t j = 0; j < shape[1]; ++j) {
      for (std::int64_t k = 0; k < shape[2]; ++k) {
        grid.values.push_back(static_cast<T>(value(i, j, k)));
      }
    }
  }
  return grid;
}

inline data::Volume noise(const data::Shape3& shape, const data::Affine& affine) {
  data::Volume volume{shape, affine,
                      std::vector<float>(static_cast<std::size_t>(data::voxel_count(shape)))};
  Random(7).fill_uniform(volume.values, 10, 200);
  return volume;
}

inline data::Scan scan_of(data::Volume volume, DType dtype = DType::F32) {
  data::Scan scan;
  scan.header.dtype = dtype;
  scan.header.shape = volume.shape;
  scan.header.affine = volume.affine;
  scan.stored_integers = !is_floating(dtype);
  scan.name = "scan";
  scan.volume = std::move(volume);
  return scan;
}

/// A label map as the scan of a mask.
inline data::Scan scan_of(const data::LabelMap& labels) {
  data::Volume volume{labels.shape, labels.affine, {labels.values.begin(), labels.values.end()}};
  return scan_of(std::move(volume), DType::U8);
}

/// (i - a)² + ... within the radius: a ball in voxels.
inline bool in_ball(const data::Shape3& voxel, const std::array<double, 3>& centre, double radius) {
  double sum = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double distance = static_cast<double>(voxel[axis]) - centre[axis];
    sum += distance * distance;
  }
  return sum <= radius * radius;
}

/// Largest difference between the elements of two affines.
inline double distance(const data::Affine& a, const data::Affine& b) {
  double largest = 0;
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      largest = std::max(largest, std::abs(a[row][column] - b[row][column]));
    }
  }
  return largest;
}

}  // namespace ubique::test
