// SPDX-License-Identifier: Apache-2.0
// The sampled ROC areas, against slow literal implementations of their definitions.
#include "ubique/models/msinet/score/metric_auc.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/models/msinet/score/metric_samples.h"

namespace ubique::msinet {
namespace {

/// Thresholds 1, 0.9, ... 0; shares of both at or above; trapezoids.
double plain_stepped_area(const std::vector<double>& hits, const std::vector<double>& alarms) {
  const auto share = [](const std::vector<double>& values, double threshold) {
    const auto reach = std::count_if(values.begin(), values.end(),
                                     [&](double value) { return value >= threshold; });
    return static_cast<double>(reach) / static_cast<double>(values.size());
  };
  double area = 0, x = 0, y = 0;
  for (int i = 10; i >= -1; --i) {
    const double next_x = i < 0 ? 1 : share(alarms, i * 0.1);
    const double next_y = i < 0 ? 1 : share(hits, i * 0.1);
    area += (next_x - x) * (next_y + y) / 2;
    x = next_x;
    y = next_y;
  }
  return area;
}

std::vector<double> scaled_values(const samples::Map<double>& map,
                                  const std::vector<MapPoint>& points) {
  const auto measured = map.measured();
  auto values = values_at(measured, points);
  for (double& value : values) value = (value - measured.min) / (measured.max - measured.min);
  return values;
}

}  // namespace

TEST_CASE("AUC-Borji: one split is the area between fixated and drawn pixels") {
  const auto map = samples::hilly_map<double>(40, 30, 2);
  const auto points = samples::some_points(40, 30, 20, 7);
  const auto distinct = distinct_pixels(points, 40);
  const Random random(5, 2);
  std::vector<MapPoint> drawn;
  for (std::size_t i = 0; i < distinct.size(); ++i) {
    const auto pixel = random.below(i, map.values.size());
    drawn.push_back({static_cast<double>(pixel % 40), static_cast<double>(pixel / 40)});
  }
  const double expected =
      plain_stepped_area(scaled_values(map, distinct), scaled_values(map, drawn));
  CHECK(auc_borji(map.measured(), points, {5, 1, 0.1}) == doctest::Approx(expected).epsilon(1e-12));
}

TEST_CASE("AUC-Borji: a seed gives the same number, another seed one that is near") {
  const auto map = samples::hilly_map<float>(64, 48, 2);
  const auto points = samples::some_points(64, 48, 60, 7);
  const double first = auc_borji(map.measured(), points, {1, 100, 0.1});
  CHECK(first == auc_borji(map.measured(), points, {1, 100, 0.1}));
  const double second = auc_borji(map.measured(), points, {2, 100, 0.1});
  CHECK(first != second);
  CHECK(std::abs(first - second) < 0.05);
}

TEST_CASE("AUC-Borji: fixations on the peaks are found, fixations in the valleys are not") {
  auto map = samples::hilly_map<float>(40, 40, 2);
  std::vector<MapPoint> peaks, valleys;
  for (int i = 0; i < 10; ++i) {
    map.values[static_cast<std::size_t>(41 * i)] = 9;
    peaks.push_back({static_cast<double>(i), static_cast<double>(i)});
    valleys.push_back({static_cast<double>(i), 39.0 - i});
    map.values[static_cast<std::size_t>((39 - i) * 40 + i)] = -9;
  }
  CHECK(auc_borji(map.measured(), peaks) > 0.95);
  CHECK(auc_borji(map.measured(), valleys) < 0.05);
  CHECK(auc_judd(map.measured(), peaks, Definition::Mit) > 0.95);
}

TEST_CASE("sAUC of MIT: with as many negatives as fixations every split is the same") {
  const auto map = samples::hilly_map<double>(40, 30, 2);
  const auto points = distinct_pixels(samples::some_points(40, 30, 20, 7), 40);
  auto others = distinct_pixels(samples::some_points(40, 30, 20, 8), 40);
  REQUIRE(others.size() >= 15);
  others.resize(15);
  const double expected =
      plain_stepped_area(scaled_values(map, points), scaled_values(map, others));
  CHECK(shuffled_auc(map.measured(), points, others, Definition::Mit, {3, 20, 0.1}) ==
        doctest::Approx(expected).epsilon(1e-12));
}

TEST_CASE("sAUC: negatives that look like the fixations leave a half") {
  const auto map = samples::hilly_map<float>(64, 48, 2);
  const auto points = samples::some_points(64, 48, 400, 1),
             others = samples::some_points(64, 48, 900, 2);
  for (const auto definition : {Definition::Mit, Definition::Tuebingen}) {
    CHECK(shuffled_auc(map.measured(), points, others, definition) ==
          doctest::Approx(0.5).epsilon(0.1));
  }
  CHECK(shuffled_auc(map.measured(), points, points, Definition::Tuebingen) ==
        doctest::Approx(0.5).epsilon(1e-12));
}

TEST_CASE("AUC: invalid settings are refused") {
  const auto map = samples::hilly_map<float>(8, 8, 2);
  const auto points = samples::some_points(8, 8, 5, 1);
  for (const AucSampling sampling : {AucSampling{0, 0, 0.1}, {0, 5, 0}, {0, 5, 2}, {0, 5, NAN}}) {
    test::refusal_of(ErrorKind::Usage, [&] { auc_borji(map.measured(), points, sampling); });
  }
}

TEST_CASE("AUC-Judd: noise breaks ties without moving anything else") {
  const auto map = samples::hilly_map<double>(40, 30, 2, 4);
  const auto broken = break_ties(map.measured(), 1);
  auto sorted = broken;
  std::sort(sorted.begin(), sorted.end());
  CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
  for (std::size_t i = 0; i < broken.size(); ++i) {
    CHECK(std::abs(broken[i] - map.values[i]) < 1e-6);
  }
  const auto points = samples::some_points(40, 30, 50, 3);
  const MeasuredMap<double> moved(broken, 40, 30);
  CHECK(auc_judd(moved, points, Definition::Tuebingen) ==
        doctest::Approx(auc_judd(map.measured(), points, Definition::Tuebingen)).epsilon(0.05));
}

TEST_CASE("points: the same relative position in an image of another size") {
  const std::vector<MapPoint> points = {{0, 0}, {std::nextafter(640.0, 0.0), 479.9}, {320, 240}};
  const auto scaled = rescale_points(points, 640, 480, 333, 77);
  CHECK(scaled[0].x == 0);
  for (const auto& point : scaled) CHECK(inside(point, 333, 77));
  CHECK(scaled[2].x == doctest::Approx(166.5));
  CHECK(scaled[2].y == doctest::Approx(38.5));
}

}  // namespace ubique::msinet
