// SPDX-License-Identifier: Apache-2.0
// Axes, ticks, SVG paths, labels and hover values of one chart.
#include "ubique/engine/run/report_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include "ubique/base/text/json.h"
#include "ubique/base/text/text.h"
#include "ubique/engine/run/report_text.h"

namespace ubique::engine {
namespace {

constexpr std::size_t kMostPoints = 480;  // about one per pixel of a chart's width
constexpr double kLogSpan = 50;           // larger ratios hide the small values on a linear scale
constexpr double kBoxSize = 1000;         // width and height in the SVG's own units
constexpr double kMostTicks = 100;        // an axis has about five: a bound, whatever the numbers
// Within these bounds spans and powers of ten of the values neither overflow nor vanish.
constexpr double kLargestDrawn = 1e300, kSmallestSpan = 1e-290;
// Values closer than this are drawn as one: ticks between them could not be told apart.
constexpr double kSmallestRelativeSpan = 1e-9;

/// False for NaN, infinity and what is too large for an axis; such values interrupt a line.
bool is_drawable(double value) { return std::abs(value) <= kLargestDrawn; }

/// Maps values to positions on an axis, 0 to 1.
struct Scale {
  double low = 0, high = 1;
  bool logarithmic = false;

  double share(double value) const {
    const auto mapped = [this](double v) { return logarithmic ? std::log10(v) : v; };
    return (mapped(value) - mapped(low)) / (mapped(high) - mapped(low));
  }
};

bool is_drawn(const ChartSeries& series) { return series.style != LineStyle::Ticks; }

/// A tick distance of 1, 2 or 5 times a power of ten (a power of two for bytes): about five ticks.
double nice_step(double span, bool bytes) {
  const double rough = span / 5;
  if (bytes) return std::exp2(std::ceil(std::log2(rough)));
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power) return factor * power;
  }
  return 10 * power;
}

std::vector<double> linear_ticks(Scale& scale, bool bytes, bool widen) {
  const double step = nice_step(scale.high - scale.low, bytes);
  if (widen) {
    scale.low = std::floor(scale.low / step + 1e-9) * step;
    scale.high = std::ceil(scale.high / step - 1e-9) * step;
  }
  std::vector<double> ticks;
  const double first = std::ceil(scale.low / step - 1e-9);
  const double last = std::floor(scale.high / step + 1e-9);
  const auto count = static_cast<int>(std::clamp(last - first + 1, 0.0, kMostTicks));
  for (int i = 0; i < count; ++i) ticks.push_back((first + i) * step);
  return ticks;
}

std::vector<double> log_ticks(Scale& scale) {
  const double low = std::floor(std::log10(scale.low) + 1e-9);
  const double high = std::ceil(std::log10(scale.high) - 1e-9);
  scale = {std::pow(10, low), std::pow(10, high), true};
  const double stride = std::max(1.0, std::ceil((high - low) / 6));
  std::vector<double> ticks;
  for (double power = low; power <= high; power += stride) ticks.push_back(std::pow(10, power));
  return ticks;
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
  Scale scale() const {
    const double largest = std::max(std::abs(low), std::abs(high));
    if (high - low > std::max(kSmallestSpan, kSmallestRelativeSpan * largest)) return {low, high};
    const double room = largest <= kSmallestSpan ? 1 : largest / 2;  // a single value is centred
    return {low - room, high + room};
  }
};

/// A chart with thinned points, and its axes.
struct Drawing {
  Chart chart;
  Scale x, y;
  std::vector<double> x_ticks, y_ticks;

  double left(double value) const { return x.share(value); }
  double top(double value) const { return 1 - y.share(value); }
};

std::optional<Drawing> lay_out_chart(const Chart& chart) {
  Drawing drawing{chart, {}, {}, {}, {}};
  Range across, up;
  for (auto& series : drawing.chart.series) {
    series.points = thin_out(series.points, kMostPoints);
    for (const auto& point : series.points) {
      if (!is_drawable(point.x) || !is_drawable(point.y)) continue;
      across.add(point.x);
      if (is_drawn(series)) up.add(point.y);
    }
  }
  if (up.empty()) return {};
  const bool bytes = chart.unit == ChartUnit::Bytes;
  if (bytes) up.add(0);
  drawing.x = across.scale();
  drawing.x_ticks = linear_ticks(drawing.x, /*bytes=*/false, /*widen=*/false);
  std::erase_if(drawing.x_ticks, [](double tick) { return tick != std::floor(tick); });
  drawing.y = up.scale();
  const bool wide = chart.may_be_logarithmic && drawing.y.low > kSmallestSpan &&
                    drawing.y.high / kLogSpan > drawing.y.low;
  drawing.y_ticks = wide ? log_ticks(drawing.y) : linear_ticks(drawing.y, bytes, /*widen=*/true);
  return drawing;
}

std::string value_text(double value, ChartUnit unit) {
  if (unit == ChartUnit::Bytes) return human_bytes(std::llround(value));
  return number_text(std::abs(value) < 1e-12 ? 0 : value);
}

/// A path through the points, interrupted at non-finite values.
std::string line_path(const Drawing& drawing, const ChartPoints& points) {
  std::string path;
  bool drawn = false;
  for (const auto& point : points) {
    const bool finite = is_drawable(point.y);
    if (finite) {
      fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", drawn ? 'L' : 'M',
                     kBoxSize * drawing.left(point.x), kBoxSize * drawing.top(point.y));
    }
    drawn = finite;
  }
  return path;
}

/// Zero-length strokes with round ends: dots that stay round however the SVG is stretched.
std::string dot_path(const Drawing& drawing, const ChartPoints& points) {
  std::string path;
  for (const auto& point : points) {
    if (!is_drawable(point.y)) continue;
    fmt::format_to(std::back_inserter(path), "M{:.1f} {:.1f}h0", kBoxSize * drawing.left(point.x),
                   kBoxSize * drawing.top(point.y));
  }
  return path;
}

std::string tick_path(const Drawing& drawing, const ChartPoints& points) {
  std::string path;
  for (const auto& point : points) {
    fmt::format_to(std::back_inserter(path), "M{:.1f} {}v{}", kBoxSize * drawing.left(point.x),
                   kBoxSize * 0.95, kBoxSize * 0.05);
  }
  return path;
}

/// The CSS class of each series. A faint one has the colour of the series before it; reference
/// values and events have classes of their own.
std::vector<std::string> series_classes(const Chart& chart) {
  std::vector<std::string> classes;
  int colour = -1;
  for (const auto& series : chart.series) {
    switch (series.style) {
      case LineStyle::Faint:
        classes.push_back(fmt::format("s{} faint", colour));
        break;
      case LineStyle::Dashed:
        classes.emplace_back("mark");
        break;
      case LineStyle::Ticks:
        classes.emplace_back("event");
        break;
      default:
        classes.push_back(fmt::format("s{}", ++colour));
    }
  }
  return classes;
}

/// Faint series are drawn first, behind the others.
std::string draw_series(const Drawing& drawing) {
  const auto classes = series_classes(drawing.chart);
  std::string behind, front;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const auto& series = drawing.chart.series[i];
    const auto path =
        is_drawn(series) ? line_path(drawing, series.points) : tick_path(drawing, series.points);
    auto& layer = series.style == LineStyle::Faint ? behind : front;
    layer += fmt::format("<path class=\"line {}\" d=\"{}\"/>", classes[i], path);
    if (series.style == LineStyle::Dots || series.points.size() == 1) {
      front += fmt::format("<path class=\"dots {}\" d=\"{}\"/>", classes[i],
                           dot_path(drawing, series.points));
    }
  }
  return behind + front;
}

std::string draw_grid(const Drawing& drawing) {
  std::string path;
  for (const double tick : drawing.y_ticks) {
    fmt::format_to(std::back_inserter(path), "M0 {:.1f}H{}", kBoxSize * drawing.top(tick),
                   kBoxSize);
  }
  return fmt::format("<path class=\"grid\" d=\"{}\"/>", path);
}

std::string axis_labels(const Drawing& drawing) {
  std::string y_labels, x_labels;
  for (const double tick : drawing.y_ticks) {
    y_labels += fmt::format("<span style=\"top:{:.2f}%\">{}</span>", 100 * drawing.top(tick),
                            value_text(tick, drawing.chart.unit));
  }
  for (const double tick : drawing.x_ticks) {
    const bool at_the_end = drawing.left(tick) > 0.96;  // its label must stay inside
    x_labels +=
        fmt::format("<span{} style=\"left:{:.2f}%\">{}</span>", at_the_end ? " class=\"end\"" : "",
                    100 * drawing.left(tick), count_text(std::llround(tick)));
  }
  return fmt::format(
      "<div class=\"y-labels\" aria-hidden=\"true\">{}</div>"
      "<div class=\"x-labels\" aria-hidden=\"true\">{}</div>",
      y_labels, x_labels);
}

std::string legend(const Chart& chart) {
  const auto classes = series_classes(chart);
  std::string items;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (chart.series[i].style == LineStyle::Faint) continue;
    items += fmt::format("<li class=\"{}\"><i></i>{}</li>", classes[i],
                         escape_html(chart.series[i].name));
  }
  return fmt::format("<ul class=\"legend\">{}</ul>", items);
}

/// "loss: from 1.2 at step 1 to 0.3 at step 500, lowest 0.29, highest 1.2".
std::string series_description(const ChartSeries& series, ChartUnit unit) {
  if (!is_drawn(series)) {
    return fmt::format("{}: {} times", series.name, series.points.size());
  }
  ChartPoints finite;
  std::copy_if(series.points.begin(), series.points.end(), std::back_inserter(finite),
               [](const ChartPoint& point) { return std::isfinite(point.y); });
  if (finite.empty()) return fmt::format("{}: no values", series.name);
  const auto [low, high] =
      std::minmax_element(finite.begin(), finite.end(),
                          [](const ChartPoint& a, const ChartPoint& b) { return a.y < b.y; });
  const auto text = [&](const ChartPoint& point) { return value_text(point.y, unit); };
  return fmt::format("{}: from {} at step {} to {} at step {}, lowest {}, highest {}", series.name,
                     text(finite.front()), count_text(std::llround(finite.front().x)),
                     text(finite.back()), count_text(std::llround(finite.back().x)), text(*low),
                     text(*high));
}

std::string description(const Chart& chart) {
  std::vector<std::string> sentences;
  for (const auto& series : chart.series)
    sentences.push_back(series_description(series, chart.unit));
  return chart.title + ". " + join(sentences, "; ") + ".";
}

/// The JSON from which the page's script shows the values under the pointer.
std::string hover_values(const Drawing& drawing) {
  const auto round = [](double value) { return Json::parse(fmt::format("{:.5g}", value)); };
  Json json = {{"x", {drawing.x.low, drawing.x.high}},
               {"y", {drawing.y.low, drawing.y.high}},
               {"log", drawing.y.logarithmic},
               {"bytes", drawing.chart.unit == ChartUnit::Bytes},
               {"series", Json::array()}};
  const auto classes = series_classes(drawing.chart);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const auto& series = drawing.chart.series[i];
    Json points = Json::array();
    for (const auto& point : series.points) {
      if (is_drawable(point.y)) points.push_back({std::llround(point.x), round(point.y)});
    }
    json["series"].push_back(
        {{"name", series.name}, {"class", classes[i]}, {"points", std::move(points)}});
  }
  return escape_html(json_text(json));
}

/// Minimum and maximum of points[begin, end), sorted by x; one point if they are the same or none
/// is finite.
void keep_extremes(const ChartPoints& points, std::size_t begin, std::size_t end,
                   ChartPoints& kept) {
  std::size_t low = begin, high = begin;
  for (std::size_t i = begin; i < end; ++i) {
    if (!is_drawable(points[i].y)) continue;
    if (!is_drawable(points[low].y) || points[i].y < points[low].y) low = i;
    if (!is_drawable(points[high].y) || points[i].y > points[high].y) high = i;
  }
  kept.push_back(points[std::min(low, high)]);
  if (low != high) kept.push_back(points[std::max(low, high)]);
}

}  // namespace

ChartPoints thin_out(const ChartPoints& points, std::size_t most) {
  if (points.size() <= most) return points;
  const std::size_t inner = points.size() - 2;  // both ends are kept
  const std::size_t intervals = std::max<std::size_t>(1, most / 2 - 1);
  ChartPoints kept = {points.front()};
  for (std::size_t i = 0; i < intervals; ++i) {
    keep_extremes(points, 1 + inner * i / intervals, 1 + inner * (i + 1) / intervals, kept);
  }
  kept.push_back(points.back());
  return kept;
}

ChartPoints smooth(const ChartPoints& points, std::size_t window) {
  std::vector<double> sums = {0}, counts = {0};  // of the points before each index
  for (const auto& point : points) {
    const bool finite = is_drawable(point.y);
    sums.push_back(sums.back() + (finite ? point.y : 0));
    counts.push_back(counts.back() + (finite ? 1 : 0));
  }
  ChartPoints means;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t begin = i - std::min(i, window / 2);
    const std::size_t end = std::min(points.size(), i + window / 2 + 1);
    // No finite value in the window: 0 / 0 is NaN, which interrupts the line.
    means.push_back({points[i].x, (sums[end] - sums[begin]) / (counts[end] - counts[begin])});
  }
  return means;
}

std::string chart_figure(const Chart& chart) {
  const auto drawing = lay_out_chart(chart);
  if (!drawing) return {};
  return fmt::format(
      "<figure class=\"chart\"><figcaption><h3>{}{}</h3>{}</figcaption>"
      "<div class=\"plot\" tabindex=\"0\" role=\"img\" aria-label=\"{}\" data-chart=\"{}\">"
      "<svg viewBox=\"0 0 1000 1000\" preserveAspectRatio=\"none\" aria-hidden=\"true\">{}{}</svg>"
      "{}</div></figure>\n",
      escape_html(chart.title), drawing->y.logarithmic ? " <small>log scale</small>" : "",
      legend(chart), escape_html(description(chart)), hover_values(*drawing), draw_grid(*drawing),
      draw_series(*drawing), axis_labels(*drawing));
}

}  // namespace ubique::engine
