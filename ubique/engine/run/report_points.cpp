// SPDX-License-Identifier: Apache-2.0
#include "ubique/engine/run/report_points.h"

#include <algorithm>
#include <cmath>

namespace ubique::engine {
namespace {

/// The lowest and the highest of points[begin, end) in the order of x; one if they are the same or
/// none is finite.
void keep_extremes(const ChartPoints& points, std::size_t begin, std::size_t end,
                   ChartPoints& kept) {
  std::size_t low = begin, high = begin;
  for (std::size_t i = begin; i < end; ++i) {
    if (!std::isfinite(points[i].y)) continue;
    if (!std::isfinite(points[low].y) || points[i].y < points[low].y) low = i;
    if (!std::isfinite(points[high].y) || points[i].y > points[high].y) high = i;
  }
  kept.push_back(points[std::min(low, high)]);
  if (low != high) kept.push_back(points[std::max(low, high)]);
}

}  // namespace

ChartPoints thin_out(const ChartPoints& points, std::size_t most) {
  if (points.size() <= most) return points;
  const std::size_t inner = points.size() - 2;  // the ends stay
  const std::size_t stretches = std::max<std::size_t>(1, most / 2 - 1);
  ChartPoints kept = {points.front()};
  for (std::size_t i = 0; i < stretches; ++i) {
    keep_extremes(points, 1 + inner * i / stretches, 1 + inner * (i + 1) / stretches, kept);
  }
  kept.push_back(points.back());
  return kept;
}

ChartPoints smooth(const ChartPoints& points, std::size_t window) {
  std::vector<double> sums = {0}, counts = {0};  // of the points before each place
  for (const auto& point : points) {
    const bool finite = std::isfinite(point.y);
    sums.push_back(sums.back() + (finite ? point.y : 0));
    counts.push_back(counts.back() + (finite ? 1 : 0));
  }
  ChartPoints means;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t begin = i - std::min(i, window / 2);
    const std::size_t end = std::min(points.size(), i + window / 2 + 1);
    // Nothing finite in the window: 0 / 0, which breaks the line.
    means.push_back({points[i].x, (sums[end] - sums[begin]) / (counts[end] - counts[begin])});
  }
  return means;
}

}  // namespace ubique::engine
