// SPDX-License-Identifier: Apache-2.0
// All metrics against pysaliency and against NumPy code of the MATLAB definitions.
#include <doctest/doctest.h>

#include "tests/models/msinet/score/metric_samples.h"
#include "ubique/models/msinet/score/metric_auc.h"
#include "ubique/models/msinet/score/metric_pairs.h"

namespace ubique::msinet {
namespace {

using samples::GoldenImage;

std::vector<MapPoint> points_of_others(const std::vector<GoldenImage>& images, std::size_t index) {
  std::vector<MapPoint> others;
  const auto& here = images[index].map;
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (i == index) continue;
    const auto& there = images[i].map;
    const auto scaled =
        rescale_points(images[i].points, there.width, there.height, here.width, here.height);
    others.insert(others.end(), scaled.begin(), scaled.end());
  }
  return others;
}

void check_near(double value, const Json& expected, double tolerance) {
  CHECK(std::abs(value - expected.get<double>()) < tolerance);
}

template <typename T, typename U>
void check_maps(const MeasuredMap<T>& map, const MeasuredMap<U>& blurred, const GoldenImage& image,
                std::span<const MapPoint> others, double tolerance) {
  const auto& tuebingen = image.tuebingen;
  const auto& points = image.points;
  check_near(auc_judd(map, points, Definition::Tuebingen), tuebingen.at("AUC"), tolerance);
  check_near(shuffled_auc(map, points, others, Definition::Tuebingen), tuebingen.at("sAUC"),
             tolerance);
  check_near(nss(map, points, Definition::Tuebingen), tuebingen.at("NSS"), tolerance);
  check_near(cc(map, blurred), tuebingen.at("CC"), tolerance);
  check_near(kld(map, blurred), tuebingen.at("KLD"), tolerance);
  check_near(sim(map, blurred, Definition::Tuebingen), tuebingen.at("SIM"), tolerance);
  const auto& mit = image.mit;
  check_near(auc_judd(map, points, Definition::Mit), mit.at("AUC_Judd_no_jitter"), tolerance);
  check_near(nss(map, points, Definition::Mit), mit.at("NSS_sample_std_distinct_points"),
             tolerance);
  check_near(cc(map, blurred), mit.at("CC"), tolerance);
  check_near(kld(map, blurred), mit.at("KLD"), tolerance);
  check_near(sim(map, blurred, Definition::Mit), mit.at("SIM_minmax"), tolerance);
}

template <typename T>
void check_gains(const MeasuredMap<T>& map, const GoldenImage& image, double tolerance) {
  const auto baseline = image.baseline.measured();
  const std::vector<double> flat(map.values.size(), 1);
  const MeasuredMap<double> uniform(flat, map.width, map.height);
  const auto gain = [&](const auto& over, Definition definition, double share) {
    return information_gain(map, over, image.points, definition, share);
  };
  check_near(gain(baseline, Definition::Tuebingen, 0.01), image.tuebingen.at("IG_bits_over_centre"),
             tolerance);
  check_near(gain(uniform, Definition::Tuebingen, 0.01), image.tuebingen.at("IG_bits_over_uniform"),
             tolerance);
  check_near(gain(baseline, Definition::Mit, 0), image.mit.at("IG_bits"), tolerance);
}

}  // namespace

TEST_CASE("metrics: both definitions equal their references, on maps of double and of float") {
  const auto set = samples::golden_set();
  for (std::size_t i = 0; i < set.images.size(); ++i) {
    const auto& image = set.images[i];
    CAPTURE(i);
    const auto others = points_of_others(set.images, i);
    check_maps(image.map.measured(), image.blurred.measured(), image, others, 1e-9);
    check_gains(image.map.measured(), image, 1e-9);
    const auto map = samples::as_float(image.map), blurred = samples::as_float(image.blurred);
    check_maps(map.measured(), blurred.measured(), image, others, 1e-6);
    check_gains(map.measured(), image, 1e-6);
    check_near(information_gain(image.density.measured(), image.baseline.measured(), image.points,
                                Definition::Tuebingen),
               image.tuebingen.at("IG_bits_over_centre"), 1e-9);
  }
}

TEST_CASE("metrics: a constant map scores as pysaliency says") {
  const auto set = samples::golden_set();
  if (set.images.empty()) return;
  const auto& first = set.images.front();
  const auto& expected = set.numbers.at("edge").at("constant_map");
  const std::vector<double> flat(first.map.values.size(), 0.3);
  const MeasuredMap<double> map(flat, first.map.width, first.map.height);
  CHECK(nss(map, first.points, Definition::Tuebingen) == expected.at("NSS").get<double>());
  CHECK(cc(map, first.blurred.measured()) == expected.at("CC_with_first_blur").get<double>());
  CHECK(auc_judd(map, first.points, Definition::Tuebingen) == expected.at("AUC").get<double>());
  CHECK(shuffled_auc(map, first.points, points_of_others(set.images, 0), Definition::Tuebingen) ==
        expected.at("sAUC").get<double>());
}

}  // namespace ubique::msinet
