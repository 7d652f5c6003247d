// SPDX-License-Identifier: Apache-2.0
// Selects and groups the curves of steps and epochs into charts.
#include "ubique/engine/run/report_curves.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "ubique/base/text/text.h"

namespace ubique::engine {
namespace {

constexpr std::size_t kNoisyFrom = 80;  // curves with as many points are drawn with their mean
constexpr std::size_t kMostSeries = 6;  // colours of the style sheet

template <typename Value>
ChartPoints step_curve(const std::vector<StepRecord>& steps, const Value& value) {
  ChartPoints points;
  points.reserve(steps.size());
  for (const auto& record : steps) {
    points.push_back({static_cast<double>(record.step), static_cast<double>(value(record))});
  }
  return points;
}

/// One curve per score name, in the order in which the names first appear.
template <typename Record, typename Member>
std::vector<ChartSeries> score_curves(const std::vector<Record>& records, const Member& member,
                                      LineStyle style) {
  std::vector<ChartSeries> curves;
  for (const auto& record : records) {
    for (const auto& [name, value] : std::invoke(member, record)) {
      auto found = std::find_if(curves.begin(), curves.end(),
                                [&n = name](const auto& curve) { return curve.name == n; });
      if (found == curves.end()) found = curves.insert(curves.end(), {name, {}, style});
      found->points.push_back({static_cast<double>(record.step), value});
    }
  }
  return curves;
}

/// A short curve as it is; a long one as its running mean, with the raw values drawn faintly.
void add_with_mean(Chart& chart, const std::string& name, const ChartPoints& points) {
  if (points.size() < kNoisyFrom) {
    chart.series.push_back({name, points, LineStyle::Line});
    return;
  }
  chart.series.push_back({name + ", mean", smooth(points, points.size() / 40), LineStyle::Line});
  chart.series.push_back({name, points, LineStyle::Faint});
}

Chart noisy_chart(const char* title, const std::string& name, const ChartPoints& points) {
  Chart chart{title, ChartUnit::Number, {}};
  add_with_mean(chart, name, points);
  return chart;
}

bool is_loss(const ChartSeries& curve) {
  return lowercase(curve.name).find("loss") != std::string::npos;
}

/// Values within -1 to 1 (Dice, accuracy, correlation) can share a chart.
bool is_bounded(const ChartSeries& curve) {
  return std::all_of(curve.points.begin(), curve.points.end(), [](const ChartPoint& point) {
    return !std::isfinite(point.y) || std::abs(point.y) <= 1;
  });
}

bool changes(const ChartPoints& points) {
  return std::any_of(points.begin(), points.end(),
                     [&](const ChartPoint& point) { return point.y != points.front().y; });
}

Chart loss_chart(const std::vector<StepRecord>& steps, std::vector<ChartSeries>& scores) {
  Chart chart{"Loss", ChartUnit::Number, {}};
  add_with_mean(chart, "training", step_curve(steps, std::mem_fn(&StepRecord::loss)));
  for (auto& curve : scores) {
    if (is_loss(curve)) chart.series.push_back(curve);
  }
  std::erase_if(scores, is_loss);
  ChartSeries skipped{"skipped steps", {}, LineStyle::Ticks};
  for (const auto& record : steps) {
    if (record.skipped) skipped.points.push_back({static_cast<double>(record.step), 0});
  }
  if (!skipped.points.empty()) chart.series.push_back(std::move(skipped));
  return chart;
}

/// Curves between -1 and 1 share one chart, up to kMostSeries; each other one gets its own.
void add_score_charts(std::vector<Chart>& charts, const std::string& title,
                      const std::vector<ChartSeries>& curves) {
  Chart shared{title, ChartUnit::Number, {}};
  std::vector<Chart> single;
  for (const auto& curve : curves) {
    if (is_bounded(curve) && shared.series.size() < kMostSeries) {
      shared.series.push_back(curve);
    } else {
      single.push_back({title + ": " + curve.name, ChartUnit::Number, {curve}});
    }
  }
  charts.push_back(std::move(shared));
  charts.insert(charts.end(), single.begin(), single.end());
}

std::vector<ChartSeries> training_metrics(const std::vector<StepRecord>& steps) {
  auto curves = score_curves(steps, &StepRecord::metrics, LineStyle::Line);
  for (auto& curve : curves) {
    if (curve.points.size() < kNoisyFrom) continue;
    curve.points = smooth(curve.points, curve.points.size() / 40);
    curve.name += ", mean";
  }
  return curves;
}

Chart memory_chart(const std::vector<StepRecord>& steps, std::int64_t predicted_bytes) {
  Chart chart{"Memory", ChartUnit::Bytes, {}};
  const auto now = step_curve(steps, std::mem_fn(&StepRecord::memory_now));
  const auto peak = step_curve(steps, std::mem_fn(&StepRecord::memory_peak));
  const auto known = [](const ChartPoint& point) { return point.y > 0; };
  if (std::none_of(peak.begin(), peak.end(), known)) return chart;
  chart.series = {{"peak", peak, LineStyle::Line}, {"now", now, LineStyle::Line}};
  if (predicted_bytes > 0) {
    const auto height = static_cast<double>(predicted_bytes);
    chart.series.push_back(
        {"predicted peak", {{peak.front().x, height}, {peak.back().x, height}}, LineStyle::Dashed});
  }
  return chart;
}

}  // namespace

std::vector<Chart> run_charts(const std::vector<StepRecord>& steps,
                              const std::vector<EpochRecord>& epochs,
                              std::int64_t predicted_bytes) {
  const auto style = epochs.size() < kNoisyFrom ? LineStyle::Dots : LineStyle::Line;
  auto scores = score_curves(epochs, &EpochRecord::scores, style);
  std::vector<Chart> charts = {loss_chart(steps, scores)};
  add_score_charts(charts, "Validation", scores);
  add_score_charts(charts, "Training", training_metrics(steps));
  const auto lr = step_curve(steps, std::mem_fn(&StepRecord::lr));
  charts.push_back(
      {"Learning rate", ChartUnit::Number, {{"rate", lr, LineStyle::Line}}, /*log=*/false});
  charts.push_back(noisy_chart("Gradient norm", "before clipping",
                               step_curve(steps, std::mem_fn(&StepRecord::grad_norm))));
  if (auto scale = step_curve(steps, std::mem_fn(&StepRecord::scale)); changes(scale)) {
    charts.push_back({"Loss scale", ChartUnit::Number, {{"scale", scale, LineStyle::Line}}});
  }
  charts.push_back(noisy_chart("Throughput", "samples per second",
                               step_curve(steps, std::mem_fn(&StepRecord::samples_per_second))));
  charts.push_back(memory_chart(steps, predicted_bytes));
  return charts;
}

}  // namespace ubique::engine
