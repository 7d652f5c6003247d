// SPDX-License-Identifier: Apache-2.0
// Edge cases of maps and points: constant, tied, negative, repeated, outside, none, NaN.
#include <doctest/doctest.h>

#include <limits>

#include "tests/models/msinet/score/metric_samples.h"
#include "ubique/models/msinet/score/metric_auc.h"
#include "ubique/models/msinet/score/metric_lanes.h"
#include "ubique/models/msinet/score/metric_pairs.h"
#include "ubique/models/msinet/score/metric_rank.h"

namespace ubique::msinet {
namespace {

using samples::hilly_map;
using samples::some_points;
constexpr auto kBoth = {Definition::Mit, Definition::Tuebingen};

template <typename T>
Rank counted(std::span<const T> values, double threshold) {
  Rank rank;
  for (const T value : values) {
    rank.below += static_cast<double>(value) < threshold;
    rank.equal += static_cast<double>(value) == threshold;
  }
  return rank;
}

template <typename T>
void check_ranks(const std::vector<T>& values, const std::vector<double>& thresholds) {
  const auto ranks = ranks_among<T>(values, thresholds);
  REQUIRE(ranks.size() == thresholds.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto expected = counted<T>(values, thresholds[i]);
    CHECK(ranks[i].below == expected.below);
    CHECK(ranks[i].equal == expected.equal);
  }
}

struct LogarithmOfMany {
  std::span<double> values;
  UBIQUE_MAP_INLINE void operator()() {
    for (std::size_t i = 0; i + 8 <= values.size(); i += 8) {
      lanes::Doubles block;
      lanes::load(block, &values[i]);
      lanes::logarithm(block);
      std::memcpy(&values[i], &block, sizeof(block));
    }
  }
};

}  // namespace

TEST_CASE("metrics: ranks are exact, with ties, outliers and values that differ in the last bit") {
  for (const int levels : {0, 1, 7, 250}) {
    const auto map = hilly_map<float>(67, 41, 3, levels);
    std::vector<double> thresholds;
    for (std::size_t i = 0; i < map.values.size(); i += 91) thresholds.push_back(map.values[i]);
    check_ranks(map.values, thresholds);
  }
  std::vector<float> spiky(3000, 1e-9F);
  for (std::size_t i = 0; i < spiky.size(); ++i) spiky[i] += static_cast<float>(i % 50) * 1e-12F;
  spiky[5] = 3e38F;
  spiky[6] = -3e38F;
  check_ranks(spiky, {spiky[5], spiky[6], spiky[7], spiky[8], spiky[2999]});
  check_ranks(spiky, {spiky[8]});
  check_ranks(spiky, {spiky[8], std::nextafter(spiky[8], 1.F)});
  check_ranks(std::vector<double>{0, 5e-324, 1e-323, 1}, {0, 5e-324});
  check_ranks(std::vector<double>{1}, {0, 1, 2});
  CHECK(ranks_among<float>(spiky, {}).empty());
}

TEST_CASE("metrics: the logarithm of many is the library's within two units in the last place") {
  std::vector<double> values;
  for (int i = -60; i < 60; ++i) {
    for (int k = 0; k < 8; ++k) values.push_back(std::pow(2.0, i) * (1 + k * 0.1249));
  }
  values.insert(values.end(), {1.0, std::nextafter(1.0, 0.0), std::nextafter(1.0, 2.0), 0.7071067,
                               0.70710679, 1.4142135, 1.4142136, 2.2204e-16});
  auto logs = values;
  LogarithmOfMany pass{logs};
  lanes::run(pass);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = std::log(values[i]);
    CAPTURE(values[i]);
    CHECK(std::abs(logs[i] - expected) <= 4.5e-16 * std::abs(expected));
  }
}

TEST_CASE("metrics: every width of a map gives the same as its values one by one") {
  for (int width = 1; width <= 19; ++width) {
    const auto map = hilly_map<double>(width, 3, 5), truth = hilly_map<double>(width, 3, 6);
    double sum = 0, kl = 0, shared = 0, map_sum = 0, truth_sum = 0;
    for (const double value : map.values) map_sum += value;
    for (const double value : truth.values) truth_sum += value;
    for (std::size_t i = 0; i < map.values.size(); ++i) {
      const double p = map.values[i] / map_sum, q = truth.values[i] / truth_sum;
      sum += map.values[i];
      kl += q * std::log(2.2204e-16 + q / (p + 2.2204e-16));
      shared += std::min(p, q);
    }
    const auto a = map.measured(), b = truth.measured();
    CHECK(a.sum == doctest::Approx(sum).epsilon(1e-14));
    CHECK(a.min == *std::min_element(map.values.begin(), map.values.end()));
    CHECK(a.max == *std::max_element(map.values.begin(), map.values.end()));
    CHECK(std::abs(kld(a, b) - kl) < 1e-14);
    CHECK(std::abs(sim(a, b, Definition::Tuebingen) - shared) < 1e-14);
    CHECK(cc(a, a) == doctest::Approx(1).epsilon(1e-14));
  }
}

TEST_CASE("metrics: a constant map tells nothing, whatever its value") {
  const auto truth = hilly_map<float>(20, 10, 1);
  const auto points = some_points(20, 10, 15, 2), others = some_points(20, 10, 40, 3);
  const double even = sim(MeasuredMap<float>(std::vector<float>(200, 1.F), 20, 10),
                          truth.measured(), Definition::Mit);
  for (const float level : {0.F, 0.1F, -3.F, 255.F}) {
    const std::vector<float> flat(200, level);
    const MeasuredMap<float> map(flat, 20, 10);
    for (const auto definition : kBoth) {
      CHECK(auc_judd(map, points, definition) == 0.5);
      CHECK(shuffled_auc(map, points, others, definition) == 0.5);
      CHECK(nss(map, points, definition) == 0);
      CHECK(information_gain(map, map, points, definition) == 0);
    }
    CHECK(auc_borji(map, points) == 0.5);
    CHECK(cc(map, truth.measured()) == 0);
    CHECK(cc(truth.measured(), map) == 0);
    CHECK(std::isfinite(kld(map, truth.measured())));
    CHECK(sim(map, truth.measured(), Definition::Mit) == doctest::Approx(even));
  }
  const std::vector<float> one(1, 4.F);
  const MeasuredMap<float> pixel(one, 1, 1);
  CHECK(sim(pixel, pixel, Definition::Tuebingen) == 1);
  CHECK(nss(pixel, std::vector<MapPoint>{{0.5, 0.5}}, Definition::Mit) == 0);
}

TEST_CASE("metrics: without fixations there is an error, not a number") {
  const auto map = hilly_map<float>(8, 8, 1);
  const std::vector<MapPoint> none, one = {{1, 1}};
  const auto refused = [&](const auto& code) {
    CHECK(test::contains(test::refusal_of(ErrorKind::Input, code), "expected"));
  };
  for (const auto definition : kBoth) {
    refused([&] { auc_judd(map.measured(), none, definition); });
    refused([&] { nss(map.measured(), none, definition); });
    refused([&] { shuffled_auc(map.measured(), none, one, definition); });
    refused([&] { shuffled_auc(map.measured(), one, none, definition); });
    refused([&] { information_gain(map.measured(), map.measured(), none, definition); });
  }
  refused([&] { auc_borji(map.measured(), none); });
  refused([&] { auc_judd(map.measured(), some_points(8, 8, 5000, 1), Definition::Mit); });
}

TEST_CASE("metrics: a point outside is refused by name, and can be dropped first") {
  const auto map = hilly_map<float>(8, 6, 1);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<MapPoint> bad = {{8, 2}, {-0.5, 2}, {3, 6}, {3, -1e-9}, {nan, 2}, {1e300, 2}};
  for (const auto& point : bad) {
    for (const auto definition : kBoth) {
      const std::vector<MapPoint> points = {{1, 1}, point};
      const auto message =
          test::refusal_of(ErrorKind::Input, [&] { auc_judd(map.measured(), points, definition); });
      CHECK(test::contains(message, "0 <= x < 8"));
    }
  }
  std::int64_t dropped = 0;
  auto all = bad;
  all.push_back({7.999, 5.999});
  CHECK(keep_inside(all, 8, 6, dropped).size() == 1);
  CHECK(dropped == 6);
}

TEST_CASE("metrics: repeated points count each time for Tuebingen and once for MIT") {
  const auto map = hilly_map<double>(30, 20, 4);
  const std::vector<MapPoint> once = {{3.2, 4.1}, {20.7, 11.0}, {9, 9}};
  auto repeated = once;
  repeated.insert(repeated.end(), {{3.9, 4.8}, {3.0, 4.0}});  // the same pixel as the first
  CHECK(distinct_pixels(repeated, 30).size() == 3);
  const auto measured = map.measured();
  CHECK(nss(measured, repeated, Definition::Mit) == nss(measured, once, Definition::Mit));
  CHECK(auc_judd(measured, repeated, Definition::Mit) == auc_judd(measured, once, Definition::Mit));
  CHECK(auc_borji(measured, repeated) == auc_borji(measured, once));
  CHECK(nss(measured, repeated, Definition::Tuebingen) !=
        doctest::Approx(nss(measured, once, Definition::Tuebingen)));
}

TEST_CASE("metrics: negative maps are moved up, never mirrored") {
  const auto map = hilly_map<double>(25, 14, 4), truth = hilly_map<double>(25, 14, 8);
  auto lower = map;
  for (double& value : lower.values) value -= 10;
  const auto points = some_points(25, 14, 12, 3);
  for (const auto definition : kBoth) {
    CHECK(auc_judd(lower.measured(), points, definition) ==
          doctest::Approx(auc_judd(map.measured(), points, definition)).epsilon(1e-12));
    CHECK(nss(lower.measured(), points, definition) ==
          doctest::Approx(nss(map.measured(), points, definition)).epsilon(1e-9));
  }
  CHECK(sim(lower.measured(), truth.measured(), Definition::Mit) ==
        doctest::Approx(sim(map.measured(), truth.measured(), Definition::Mit)).epsilon(1e-9));
  CHECK(kld(lower.measured(), truth.measured()) > 0);
}

TEST_CASE("metrics: NaN, infinity, sizes that do not fit and emptiness are refused") {
  auto map = hilly_map<float>(9, 5, 1);
  const auto refusal = [&] { return test::refusal_of(ErrorKind::Input, [&] { map.measured(); }); };
  map.values[20] = std::numeric_limits<float>::quiet_NaN();
  CHECK(test::contains(refusal(), "column 2, row 2"));
  map.values[20] = -std::numeric_limits<float>::infinity();
  CHECK(test::contains(refusal(), "got -inf"));
  map.values[20] = 0;
  map.width = 10;
  CHECK(test::contains(refusal(), "45 values for 10 x 5"));
  map = {{}, 0, 0};
  CHECK(test::contains(refusal(), "0 values"));
  const auto small = hilly_map<float>(4, 4, 1), large = hilly_map<float>(4, 5, 1);
  test::refusal_of(ErrorKind::Input, [&] { cc(small.measured(), large.measured()); });
}

TEST_CASE("metrics: a zero density at a fixation is minus infinity unless some share is uniform") {
  const std::vector<double> half = {0, 0, 1, 1}, even = {1, 1, 1, 1};
  const MeasuredMap<double> map(half, 4, 1), uniform(even, 4, 1);
  const std::vector<MapPoint> points = {{0, 0}, {2, 0}};
  CHECK(information_gain(map, uniform, points, Definition::Tuebingen) ==
        -std::numeric_limits<double>::infinity());
  const double gain = information_gain(map, uniform, points, Definition::Tuebingen, 0.5);
  CHECK(gain == doctest::Approx((std::log2(0.5) + std::log2(1.5)) / 2));
  CHECK(std::isfinite(information_gain(map, uniform, points, Definition::Mit)));
  test::refusal_of(ErrorKind::Usage,
                   [&] { information_gain(map, uniform, points, Definition::Tuebingen, 1.5); });
}

TEST_CASE("metrics: definitions are named, and a misspelt one is an error with a hint") {
  CHECK(parse_definition("mit") == Definition::Mit);
  CHECK(parse_definition("tuebingen") == Definition::Tuebingen);
  const auto message = test::refusal_of(ErrorKind::Usage, [] { parse_definition("tubingen"); });
  CHECK(test::contains(message, "Did you mean 'tuebingen'"));
  CHECK(is_better(Metric::Kld, 0.2, 0.3));
  CHECK_FALSE(is_better(Metric::Nss, 0.2, 0.3));
}

}  // namespace ubique::msinet
