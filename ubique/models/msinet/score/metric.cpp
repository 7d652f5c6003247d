// SPDX-License-Identifier: Apache-2.0
// Names of metrics, the summary pass over a map, and points on it.
#include "ubique/models/msinet/score/metric.h"

#include <array>
#include <cmath>
#include <unordered_set>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"
#include "ubique/models/msinet/score/metric_lanes.h"

namespace ubique::msinet {
namespace {

struct MetricName {
  std::string_view title, key;
};
constexpr std::array<MetricName, kMetricCount> kMetricNames = {{
    {"AUC-Judd", "auc_judd"},
    {"AUC-Borji", "auc_borji"},
    {"sAUC", "sauc"},
    {"NSS", "nss"},
    {"CC", "cc"},
    {"KLD", "kld"},
    {"SIM", "sim"},
    {"IG", "ig"},
}};

template <typename T>
struct SummaryPass {
  MeasuredMap<T>& map;

  UBIQUE_MAP_INLINE void operator()() {
    const auto count = static_cast<std::int64_t>(map.values.size());
    const T* values = map.values.data();
    lanes::Doubles low = lanes::Doubles{} + static_cast<double>(values[0]);
    lanes::Doubles high = low, sum{};
    lanes::for_each(
        values, count, [&](const auto& value, const auto& weight) __attribute__((always_inline)) {
          low = value < low ? value : low;
          high = value > high ? value : high;
          sum += value * weight;
        });
    map.sum = lanes::total(sum);
    map.min = low[0];
    map.max = high[0];
    for (std::int64_t i = 1; i < lanes::kWidth; ++i) {
      map.min = low[i] < map.min ? low[i] : map.min;
      map.max = high[i] > map.max ? high[i] : map.max;
    }
  }
};

/// Called when the sum is not finite: names the value that caused it.
template <typename T>
[[noreturn]] void throw_nonfinite(const MeasuredMap<T>& map) {
  for (std::size_t i = 0; i < map.values.size(); ++i) {
    const auto value = static_cast<double>(map.values[i]);
    if (std::isfinite(value)) continue;
    const auto width = static_cast<std::size_t>(map.width);
    fail(ErrorKind::Input,
         "[msinet.metrics] a map holds a value that is not finite; got {} at column {}, row {}, "
         "expected numbers. Look at the model or the file that made it.",
         value, i % width, i / width);
  }
  fail(ErrorKind::Input,
       "[msinet.metrics] the sum of a map is not finite; got values too large to add up, expected "
       "a sum below 1e308. Scale the map.");
}

std::int64_t pixel_index(const MapPoint& point, int width) {
  return static_cast<std::int64_t>(point.y) * width + static_cast<std::int64_t>(point.x);
}

}  // namespace

std::string_view to_string(Definition definition) {
  return definition == Definition::Mit ? "mit" : "tuebingen";
}

Definition parse_definition(std::string_view text) {
  for (const auto definition : {Definition::Mit, Definition::Tuebingen}) {
    if (text == to_string(definition)) return definition;
  }
  fail(ErrorKind::Usage,
       "[msinet.metrics] unknown definition of the metrics; got '{}', expected mit or tuebingen.{}",
       text, hint(text, {"mit", "tuebingen"}));
}

std::string_view to_string(Metric metric) {
  return kMetricNames[static_cast<std::size_t>(metric)].title;
}

std::string_view metric_key(Metric metric) {
  return kMetricNames[static_cast<std::size_t>(metric)].key;
}

bool defined_in(Metric metric, Definition definition) {
  return metric != Metric::AucBorji || definition == Definition::Mit;
}

bool is_better(Metric metric, double value, double than) {
  return metric == Metric::Kld ? value < than : value > than;
}

template <typename T>
MeasuredMap<T>::MeasuredMap(std::span<const T> values_, int width_, int height_)
    : values(values_), width(width_), height(height_) {
  const auto sides = static_cast<std::int64_t>(width) * height;
  check(width > 0 && height > 0 && sides == static_cast<std::int64_t>(values.size()),
        ErrorKind::Input,
        "[msinet.metrics] a map does not have the size it claims; got {} values for {} x {}, "
        "expected width x height, at least one.",
        values.size(), width, height);
  SummaryPass<T> pass{*this};
  lanes::run(pass);
  if (!std::isfinite(sum)) throw_nonfinite(*this);
}

bool inside(const MapPoint& point, int width, int height) {
  return point.x >= 0 && point.y >= 0 && point.x < width && point.y < height;
}

std::vector<MapPoint> keep_inside(std::span<const MapPoint> points, int width, int height,
                                  std::int64_t& dropped) {
  std::vector<MapPoint> kept;
  for (const auto& point : points) {
    if (inside(point, width, height)) kept.push_back(point);
  }
  dropped += static_cast<std::int64_t>(points.size() - kept.size());
  return kept;
}

std::vector<MapPoint> distinct_pixels(std::span<const MapPoint> points, int width) {
  std::vector<MapPoint> distinct;
  std::unordered_set<std::int64_t> seen;
  for (const auto& point : points) {
    if (!seen.insert(pixel_index(point, width)).second) continue;
    distinct.push_back({std::floor(point.x) + 0.5, std::floor(point.y) + 0.5});
  }
  return distinct;
}

template <typename T>
std::vector<double> values_at(const MeasuredMap<T>& map, std::span<const MapPoint> points) {
  check(!points.empty(), ErrorKind::Input,
        "[msinet.metrics] there are no fixations to score a map with; got 0, expected 1 or more. "
        "Leave such images out.");
  std::vector<double> values;
  values.reserve(points.size());
  for (const auto& point : points) {
    check(inside(point, map.width, map.height), ErrorKind::Input,
          "[msinet.metrics] a fixation lies outside of the map; got ({}, {}), expected 0 <= x < {} "
          "and 0 <= y < {}. Check that points and map have the same size, or drop such points.",
          point.x, point.y, map.width, map.height);
    values.push_back(
        static_cast<double>(map.values[static_cast<std::size_t>(pixel_index(point, map.width))]));
  }
  return values;
}

template struct MeasuredMap<float>;
template struct MeasuredMap<double>;
template std::vector<double> values_at(const MeasuredMap<float>&, std::span<const MapPoint>);
template std::vector<double> values_at(const MeasuredMap<double>&, std::span<const MapPoint>);

}  // namespace ubique::msinet
