// SPDX-License-Identifier: Apache-2.0
// NSS, CC, KLD, SIM and IG; sums over pixels are vectorised passes.
#include "ubique/models/msinet/score/metric_pairs.h"

#include <algorithm>
#include <cmath>

#include "ubique/base/error.h"
#include "ubique/models/msinet/score/metric_lanes.h"

namespace ubique::msinet {
namespace {

constexpr double kTiny = 2.2204e-16;  // epsilon of both benchmarks against 0 / 0 and log 0

template <typename T>
struct DeviationPass {
  const MeasuredMap<T>& map;
  double squares = 0;

  UBIQUE_MAP_INLINE void operator()() {
    const double mean = map.mean();
    lanes::Doubles sum{};
    lanes::for_each(
        map.values.data(), static_cast<std::int64_t>(map.values.size()),
        [&](const auto& value, const auto& weight) __attribute__((always_inline)) {
          const lanes::Doubles away = value - mean;
          sum += away * away * weight;
        });
    squares = lanes::total(sum);
  }
};

template <typename T, typename U>
struct CorrelationPass {
  const MeasuredMap<T>& map;
  const MeasuredMap<U>& truth;
  double map_squares = 0, truth_squares = 0, products = 0;

  UBIQUE_MAP_INLINE void operator()() {
    const double map_mean = map.mean(), truth_mean = truth.mean();
    lanes::Doubles aa{}, bb{}, ab{};
    lanes::for_each_pair(
        map.values.data(), truth.values.data(), static_cast<std::int64_t>(map.values.size()),
        [&](const auto& first, const auto& second, const auto& weight)
            __attribute__((always_inline)) {
              const lanes::Doubles a = first - map_mean;
              const lanes::Doubles b = (second - truth_mean) * weight;
              aa += a * a * weight;
              bb += b * b;
              ab += a * b;
            });
    map_squares = lanes::total(aa);
    truth_squares = lanes::total(bb);
    products = lanes::total(ab);
  }
};

/// A pixel's term of the KLD: q ln(q / p). The term replaces p.
struct DivergenceTerm {
  UBIQUE_MAP_INLINE static void apply(lanes::Doubles& p, const lanes::Doubles& q) {
    lanes::Doubles ratio = q / p + kTiny;
    lanes::logarithm(ratio);
    p = q * ratio;
  }
};

/// A pixel's term of SIM: the smaller density. The term replaces p.
struct SharedMassTerm {
  UBIQUE_MAP_INLINE static void apply(lanes::Doubles& p, const lanes::Doubles& q) {
    p = p < q ? p : q;
  }
};

/// Sum over all pixels of Term(p, q), the two maps as densities.
template <typename Term, typename T, typename U>
struct DensityPass {
  const MeasuredMap<T>& map;
  const MeasuredMap<U>& truth;
  DensityRule map_rule, truth_rule;
  double result = 0;

  UBIQUE_MAP_INLINE void operator()() {
    const auto p_rule = map_rule, q_rule = truth_rule;
    lanes::Doubles sum{};
    lanes::for_each_pair(
        map.values.data(), truth.values.data(), static_cast<std::int64_t>(map.values.size()),
        [&](const auto& first, const auto& second, const auto& weight)
            __attribute__((always_inline)) {
              lanes::Doubles p = (first - p_rule.shift) * p_rule.scale + p_rule.add;
              const lanes::Doubles q = (second - q_rule.shift) * q_rule.scale + q_rule.add;
              Term::apply(p, q);
              sum += p * weight;
            });
    result = lanes::total(sum);
  }
};

template <typename T, typename U>
void check_same_size(const MeasuredMap<T>& map, const MeasuredMap<U>& other) {
  check(map.width == other.width && map.height == other.height, ErrorKind::Input,
        "[msinet.metrics] two maps to be compared differ in size; got {} x {}, expected {} x {}. "
        "Resize the prediction to the size of the truth.",
        map.width, map.height, other.width, other.height);
}

}  // namespace

template <typename T>
DensityRule density_rule(const MeasuredMap<T>& map, Definition definition, double uniform) {
  check(uniform >= 0 && uniform <= 1, ErrorKind::Usage,
        "[msinet.metrics] the uniform share of a density is not a share; got {}, expected 0 to 1.",
        uniform);
  const double even = 1 / map.count();
  const double shift = definition == Definition::Mit || map.min < 0 ? map.min : 0;
  const double mass = map.sum - shift * map.count();
  if (map.constant() || !(mass > 0)) return {0, 0, even};
  return {shift, (1 - uniform) / mass, uniform * even};
}

template <typename T>
double nss(const MeasuredMap<T>& map, std::span<const MapPoint> points, Definition definition) {
  const bool once = definition == Definition::Mit;
  const auto values = values_at(map, points);  // throws for points outside of the map
  if (map.constant()) return 0;
  DeviationPass<T> pass{map};
  lanes::run(pass);
  const double deviation = std::sqrt(pass.squares / (map.count() - (once ? 1 : 0)));
  double sum = 0;
  const auto counted = once ? values_at(map, distinct_pixels(points, map.width)) : values;
  for (const double value : counted) sum += value - map.mean();
  return sum / static_cast<double>(counted.size()) / deviation;
}

template <typename T, typename U>
double cc(const MeasuredMap<T>& map, const MeasuredMap<U>& truth) {
  check_same_size(map, truth);
  if (map.constant() || truth.constant()) return 0;
  CorrelationPass<T, U> pass{map, truth};
  lanes::run(pass);
  const double scale = std::sqrt(pass.map_squares) * std::sqrt(pass.truth_squares);
  return std::clamp(pass.products / scale, -1.0, 1.0);
}

template <typename T, typename U>
double kld(const MeasuredMap<T>& map, const MeasuredMap<U>& truth) {
  check_same_size(map, truth);
  auto rule = density_rule(map, Definition::Tuebingen);
  rule.add += kTiny;
  DensityPass<DivergenceTerm, T, U> pass{map, truth, rule,
                                         density_rule(truth, Definition::Tuebingen)};
  lanes::run(pass);
  return pass.result;
}

template <typename T, typename U>
double sim(const MeasuredMap<T>& map, const MeasuredMap<U>& truth, Definition definition) {
  check_same_size(map, truth);
  DensityPass<SharedMassTerm, T, U> pass{map, truth, density_rule(map, definition),
                                         density_rule(truth, definition)};
  lanes::run(pass);
  return pass.result;
}

template <typename T, typename U>
double information_gain(const MeasuredMap<T>& map, const MeasuredMap<U>& baseline,
                        std::span<const MapPoint> points, Definition definition, double uniform,
                        double baseline_uniform) {
  check_same_size(map, baseline);
  auto map_values = values_at(map, points);
  auto baseline_values = values_at(baseline, points);
  double guard = 0;
  if (definition == Definition::Mit) {
    guard = kTiny;
    uniform = baseline_uniform = 0;
    const auto once = distinct_pixels(points, map.width);
    map_values = values_at(map, once);
    baseline_values = values_at(baseline, once);
  }
  const auto p = density_rule(map, definition, uniform);
  const auto b = density_rule(baseline, definition, baseline_uniform);
  double bits = 0;
  for (std::size_t i = 0; i < map_values.size(); ++i) {
    bits += std::log2(guard + p(map_values[i])) - std::log2(guard + b(baseline_values[i]));
  }
  return bits / static_cast<double>(map_values.size());
}

#define UBIQUE_PAIR_METRICS(T, U)                                                \
  template double cc(const MeasuredMap<T>&, const MeasuredMap<U>&);              \
  template double kld(const MeasuredMap<T>&, const MeasuredMap<U>&);             \
  template double sim(const MeasuredMap<T>&, const MeasuredMap<U>&, Definition); \
  template double information_gain(const MeasuredMap<T>&, const MeasuredMap<U>&, \
                                   std::span<const MapPoint>, Definition, double, double);
UBIQUE_PAIR_METRICS(float, float)
UBIQUE_PAIR_METRICS(float, double)
UBIQUE_PAIR_METRICS(double, float)
UBIQUE_PAIR_METRICS(double, double)
#undef UBIQUE_PAIR_METRICS
template DensityRule density_rule(const MeasuredMap<float>&, Definition, double);
template DensityRule density_rule(const MeasuredMap<double>&, Definition, double);
template double nss(const MeasuredMap<float>&, std::span<const MapPoint>, Definition);
template double nss(const MeasuredMap<double>&, std::span<const MapPoint>, Definition);

}  // namespace ubique::msinet
