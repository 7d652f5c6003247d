// SPDX-License-Identifier: Apache-2.0
// Values on a regular voxel grid with its affine. Axis order is (i, j, k) with k fastest, as in
// NumPy; networks take it as (D, H, W).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ubique/data/scans/volume/affine.h"

namespace ubique::data {

using Shape3 = std::array<std::int64_t, 3>;

inline std::int64_t voxel_count(const Shape3& shape) { return shape[0] * shape[1] * shape[2]; }

template <typename T>
struct Grid {
  Shape3 shape{};
  Affine affine{};
  std::vector<T> values;  ///< k fastest

  T& at(std::int64_t i, std::int64_t j, std::int64_t k) {
    return values[static_cast<std::size_t>((i * shape[1] + j) * shape[2] + k)];
  }
  const T& at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return const_cast<Grid*>(this)->at(i, j, k);
  }
};

using Volume = Grid<float>;
using LabelMap = Grid<std::uint8_t>;

}  // namespace ubique::data
