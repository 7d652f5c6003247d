// SPDX-License-Identifier: Apache-2.0
// Where a few values stand among the many of a map, without sorting the map: what the areas under
// ROC curves are made of. Exact, ties and all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ubique::msinet {

/// How many of the values are below and equal to a threshold.
struct Rank {
  std::int64_t below = 0, equal = 0;
};

/// One Rank for each threshold, in their order. Nothing may be NaN.
template <typename T>
std::vector<Rank> ranks_among(std::span<const T> values, std::span<const double> thresholds);

}  // namespace ubique::msinet
