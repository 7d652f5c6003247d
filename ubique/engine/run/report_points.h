// SPDX-License-Identifier: Apache-2.0
// Curves as lists of points, made short enough to draw and calm enough to read.
#pragma once

#include <cstddef>
#include <vector>

namespace ubique::engine {

struct ChartPoint {
  double x = 0, y = 0;
};
using ChartPoints = std::vector<ChartPoint>;

/// At most `most` points (4 or more) that look the same: both ends, and the lowest and the highest
/// of each stretch between them.
ChartPoints thin_out(const ChartPoints& points, std::size_t most);

/// Means over a window centred on each point; values that are not finite do not count.
ChartPoints smooth(const ChartPoints& points, std::size_t window);

}  // namespace ubique::engine
