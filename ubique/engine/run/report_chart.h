// SPDX-License-Identifier: Apache-2.0
// A line chart as HTML: an SVG that stretches with its box, labels beside it that do not, the
// values for hovering, and a text for screen readers. Independent of the run's records.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ubique::engine {

struct ChartPoint {
  double x = 0, y = 0;
};
using ChartPoints = std::vector<ChartPoint>;

/// At most `most` points (4 or more) that look the same: both ends, and the minimum and maximum of
/// each interval between them.
ChartPoints thin_out(const ChartPoints& points, std::size_t most);

/// Means over a window centred on each point; non-finite values are ignored.
ChartPoints smooth(const ChartPoints& points, std::size_t window);

enum class LineStyle {
  Line,
  Faint,   ///< raw values behind their smoothed line
  Dots,    ///< a line with a dot at each point, for few points
  Dashed,  ///< a reference value, not a measurement
  Ticks,   ///< events: short strokes at the bottom; y is ignored
};

struct ChartSeries {
  std::string name;
  ChartPoints points;  ///< sorted by x; non-finite values interrupt the line
  LineStyle style = LineStyle::Line;
};

enum class ChartUnit { Number, Bytes };

struct Chart {
  std::string title;
  ChartUnit unit = ChartUnit::Number;
  std::vector<ChartSeries> series;
  bool may_be_logarithmic = true;
};

/// A <figure>; empty for a chart without a finite value. Positive values that span more than a
/// factor of 50 get a logarithmic scale if the chart allows it.
std::string chart_figure(const Chart& chart);

}  // namespace ubique::engine
