// SPDX-License-Identifier: Apache-2.0
// A line chart as HTML: an SVG that stretches with its box, labels beside it that do not, the
// values for hovering, and a sentence for people who cannot see it. Knows no records.
#pragma once

#include <string>
#include <vector>

#include "ubique/engine/run/report_points.h"

namespace ubique::engine {

enum class LineStyle {
  Line,
  Faint,   ///< noise behind a smoother line
  Dots,    ///< a line with a dot at each point: few points that each count
  Dashed,  ///< a mark to compare with, not a measurement
  Ticks,   ///< events: short strokes at the bottom, y is not used
};

struct ChartSeries {
  std::string name;
  ChartPoints points;  ///< in the order of x; values that are not finite break the line
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
/// factor of 50 are drawn on a logarithmic scale where that is allowed.
std::string chart_figure(const Chart& chart);

}  // namespace ubique::engine
