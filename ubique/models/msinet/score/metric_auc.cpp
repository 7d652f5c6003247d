// SPDX-License-Identifier: Apache-2.0
// ROC areas from exact ranks (Judd, Tuebingen) and from sampled negatives (Borji, MIT).
#include "ubique/models/msinet/score/metric_auc.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ubique/base/error.h"
#include "ubique/base/numbers/random.h"
#include "ubique/models/msinet/score/metric_rank.h"

namespace ubique::msinet {
namespace {

constexpr std::uint64_t kJitterStream = 1, kBorjiStream = 2, kShuffledStream = 3;
constexpr double kJitter = 1e-7;

/// Mean over the positives of the share of negatives below them, ties counted half.
double mean_share_below(std::span<const Rank> ranks, double negatives) {
  double sum = 0;
  for (const auto& rank : ranks) {
    sum += static_cast<double>(rank.below) + 0.5 * static_cast<double>(rank.equal);
  }
  return sum / negatives / static_cast<double>(ranks.size());
}

/// The trapezoid rule over points that run from (0, 0) to (1, 1).
class RocArea {
 public:
  void add(double false_share, double true_share) {
    area_ += (false_share - false_) * (true_share + true_) / 2;
    false_ = false_share;
    true_ = true_share;
  }
  double finish() {
    add(1, 1);
    return area_;
  }

 private:
  double area_ = 0, false_ = 0, true_ = 0;
};

double judd_of_distinct(std::span<const double> values, std::span<const Rank> ranks,
                        double pixels) {
  const auto fixated = static_cast<double>(values.size());
  check(pixels > fixated, ErrorKind::Input,
        "[msinet.auc] every pixel of the map is fixated; got {} fixated of {}, expected some that "
        "are not.",
        fixated, pixels);
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] > values[b]; });
  RocArea roc;
  double hits = 0;
  for (const auto i : order) {
    ++hits;
    const double above = pixels - static_cast<double>(ranks[i].below);
    roc.add((above - hits) / (pixels - fixated), hits / fixated);
  }
  return roc.finish();
}

/// Histogram of values over the thresholds 0, step, 2 step, ... up to 1 of a map scaled to 0..1.
class StepCounter {
 public:
  template <typename T>
  StepCounter(const MeasuredMap<T>& map, double step)
      : low_(map.min), scale_(1 / (map.max - map.min)), step_(step) {
    check(step > 0 && step <= 1, ErrorKind::Usage,
          "[msinet.auc] the step between thresholds is not usable; got {}, expected above 0 and at "
          "most 1.",
          step);
    counts_.resize(static_cast<std::size_t>(1 / step * (1 + 1e-12)) + 1);
  }
  void clear() { std::fill(counts_.begin(), counts_.end(), 0); }
  void add(double value) { ++counts_[bin(value)]; }
  const std::vector<std::int64_t>& counts() const { return counts_; }

 private:
  /// The highest threshold that the value reaches.
  std::size_t bin(double value) const {
    const double scaled = std::min((value - low_) * scale_, 1.0);
    auto index = std::min(static_cast<std::size_t>(scaled / step_), counts_.size() - 1);
    while (index > 0 && static_cast<double>(index) * step_ > scaled) --index;
    while (index + 1 < counts_.size() && static_cast<double>(index + 1) * step_ <= scaled) ++index;
    return index;
  }

  double low_, scale_, step_;
  std::vector<std::int64_t> counts_;
};

double stepped_area(const std::vector<std::int64_t>& hits, double hit_count,
                    const std::vector<std::int64_t>& alarms, double alarm_count) {
  RocArea roc;
  double hit = 0, alarm = 0;
  for (std::size_t i = hits.size(); i-- > 0;) {
    hit += static_cast<double>(hits[i]);
    alarm += static_cast<double>(alarms[i]);
    roc.add(alarm / alarm_count, hit / hit_count);
  }
  return roc.finish();
}

/// Mean over the splits; `draw` fills the counter with one split's negatives.
template <typename T, typename Draw>
double mean_over_splits(const MeasuredMap<T>& map, std::span<const double> fixated, int negatives,
                        const AucSampling& sampling, const Draw& draw) {
  check(sampling.splits > 0, ErrorKind::Usage,
        "[msinet.auc] no splits to average over; got {}, expected 1 or more.", sampling.splits);
  StepCounter hits(map, sampling.step), alarms(map, sampling.step);
  for (const double value : fixated) hits.add(value);
  double sum = 0;
  for (int split = 0; split < sampling.splits; ++split) {
    alarms.clear();
    draw(split, alarms);
    sum += stepped_area(hits.counts(), static_cast<double>(fixated.size()), alarms.counts(),
                        negatives);
  }
  return sum / sampling.splits;
}

template <typename T>
double shuffled_by_splits(const MeasuredMap<T>& map, std::span<const double> fixated,
                          std::vector<double> others, const AucSampling& sampling) {
  const auto negatives = std::min(fixated.size(), others.size());
  const Random random(sampling.seed, kShuffledStream);
  std::uint64_t drawn = 0;
  const auto draw = [&](int, StepCounter& alarms) {
    for (std::size_t i = 0; i < negatives; ++i) {  // a partial Fisher-Yates shuffle
      const auto other = i + random.below(drawn++, others.size() - i);
      std::swap(others[i], others[other]);
      alarms.add(others[i]);
    }
  };
  return mean_over_splits(map, fixated, static_cast<int>(negatives), sampling, draw);
}

}  // namespace

template <typename T>
double auc_judd(const MeasuredMap<T>& map, std::span<const MapPoint> points,
                Definition definition) {
  auto values = values_at(map, points);
  if (map.constant()) return 0.5;
  if (definition == Definition::Mit) values = values_at(map, distinct_pixels(points, map.width));
  const auto ranks = ranks_among(map.values, values);
  if (definition == Definition::Mit) return judd_of_distinct(values, ranks, map.count());
  return mean_share_below(ranks, map.count());
}

template <typename T>
std::vector<double> break_ties(const MeasuredMap<T>& map, std::uint64_t seed) {
  const Random random(seed, kJitterStream);
  const double noise = kJitter * (map.constant() ? 1 : map.max - map.min);
  std::vector<double> moved;
  moved.reserve(map.values.size());
  for (const T value : map.values) {
    moved.push_back(static_cast<double>(value) + noise * random.uniform(moved.size()));
  }
  return moved;
}

template <typename T>
double auc_borji(const MeasuredMap<T>& map, std::span<const MapPoint> points,
                 const AucSampling& sampling) {
  auto fixated = values_at(map, points);
  if (map.constant()) return 0.5;
  fixated = values_at(map, distinct_pixels(points, map.width));
  const Random random(sampling.seed, kBorjiStream);
  const auto draw = [&](int split, StepCounter& alarms) {
    const auto first = static_cast<std::uint64_t>(split) * fixated.size();
    for (std::size_t i = 0; i < fixated.size(); ++i) {
      alarms.add(static_cast<double>(map.values[random.below(first + i, map.values.size())]));
    }
  };
  return mean_over_splits(map, fixated, static_cast<int>(fixated.size()), sampling, draw);
}

template <typename T>
double shuffled_auc(const MeasuredMap<T>& map, std::span<const MapPoint> points,
                    std::span<const MapPoint> others, Definition definition,
                    const AucSampling& sampling) {
  check(!others.empty(), ErrorKind::Input,
        "[msinet.auc] the shuffled AUC has no negatives; got no fixations of other images, "
        "expected some. It needs a set of two images or more.");
  auto fixated = values_at(map, points);
  auto negatives = values_at(map, others);
  if (map.constant()) return 0.5;
  if (definition == Definition::Mit) {
    fixated = values_at(map, distinct_pixels(points, map.width));
    negatives = values_at(map, distinct_pixels(others, map.width));
    return shuffled_by_splits(map, fixated, std::move(negatives), sampling);
  }
  const auto ranks = ranks_among<double>(negatives, fixated);
  return mean_share_below(ranks, static_cast<double>(negatives.size()));
}

std::vector<MapPoint> rescale_points(std::span<const MapPoint> points, int from_width,
                                     int from_height, int to_width, int to_height) {
  const double x_scale = static_cast<double>(to_width) / from_width;
  const double y_scale = static_cast<double>(to_height) / from_height;
  std::vector<MapPoint> scaled;
  scaled.reserve(points.size());
  // Rounding must not move a point at the right or bottom edge out of the image.
  const double right = std::nextafter(to_width, 0.0), bottom = std::nextafter(to_height, 0.0);
  for (const auto& point : points) {
    scaled.push_back({std::min(point.x * x_scale, right), std::min(point.y * y_scale, bottom)});
  }
  return scaled;
}

#define UBIQUE_AREA_METRICS(T)                                                                     \
  template double auc_judd(const MeasuredMap<T>&, std::span<const MapPoint>, Definition);          \
  template std::vector<double> break_ties(const MeasuredMap<T>&, std::uint64_t);                   \
  template double auc_borji(const MeasuredMap<T>&, std::span<const MapPoint>, const AucSampling&); \
  template double shuffled_auc(const MeasuredMap<T>&, std::span<const MapPoint>,                   \
                               std::span<const MapPoint>, Definition, const AucSampling&);
UBIQUE_AREA_METRICS(float)
UBIQUE_AREA_METRICS(double)
#undef UBIQUE_AREA_METRICS

}  // namespace ubique::msinet
