// SPDX-License-Identifier: Apache-2.0
// Ranks of a few values among all values of a map, without sorting the map: the basis of the ROC
// areas. Exact, ties included.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ubique::msinet {

/// Number of values below a threshold, and equal to it.
struct Rank {
  std::int64_t below = 0, equal = 0;
};

/// One Rank per threshold, in their order. No value may be NaN.
template <typename T>
std::vector<Rank> ranks_among(std::span<const T> values, std::span<const double> thresholds);

}  // namespace ubique::msinet
