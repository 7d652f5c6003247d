// SPDX-License-Identifier: Apache-2.0
// Whole sets: means, baseline rows, and their table, JSON and CSV.
#include "ubique/models/msinet/score/metric_score.h"

#include <doctest/doctest.h>

#include "tests/models/msinet/score/metric_samples.h"
#include "ubique/base/text/csv.h"
#include "ubique/models/msinet/score/metric_blur.h"
#include "ubique/models/msinet/score/metric_colour.h"
#include "ubique/models/msinet/score/metric_pairs.h"
#include "ubique/models/msinet/score/metric_report.h"

namespace ubique::msinet {
namespace {

double at(const MetricValues& values, Metric metric) {
  return values[static_cast<std::size_t>(metric)];
}

/// Points clustered at a different position in each image, of three observers.
std::vector<ScoredImage> small_set(int count) {
  std::vector<ScoredImage> images;
  for (int i = 0; i < count; ++i) {
    ScoredImage image{"image " + std::to_string(i), 40 + 4 * (i % 2), 30, {}, {}};
    const auto scattered = samples::some_points(8, 8, 18, static_cast<std::uint64_t>(i));
    for (std::size_t k = 0; k < scattered.size(); ++k) {
      image.points.push_back({scattered[k].x + 5 * (i % 6), scattered[k].y + 3 * (i % 5)});
      image.observers.push_back(static_cast<int>(k % 3));
    }
    images.push_back(image);
  }
  return images;
}

MapOf truth_of(const std::vector<ScoredImage>& images) {
  return [&images](std::size_t index) {
    const auto& image = images[index];
    const auto map = blur_points(image.points, image.width, image.height, 2);
    return std::vector<float>(map.begin(), map.end());
  };
}

SetScorer scorer_of(const std::vector<ScoredImage>& images, Definition definition,
                    int threads = 1) {
  ScoreOptions options;
  options.definition = definition;
  options.threads = threads;
  return {images, CentreBias::blurred(images, 0.1), options};
}

}  // namespace

TEST_CASE("blur: points become the map that SciPy makes of them") {
  const auto set = samples::golden_set();
  for (const auto& image : set.images) {
    const auto points = distinct_pixels(image.points, image.map.width);
    const auto blurred = blur_points(points, image.map.width, image.map.height, 2.5);
    for (std::size_t i = 0; i < blurred.size(); ++i) {
      CHECK(std::abs(blurred[i] - image.blurred.values[i]) < 1e-7);
    }
  }
}

TEST_CASE("blur: the mass of the points stays, even with a kernel wider than the map") {
  const std::vector<MapPoint> points = {{0, 0}, {6.9, 4.9}, {3, 2}, {3, 2}};
  for (const double sigma : {0.0, 0.7, 5.0, 40.0}) {
    double sum = 0;
    for (const double value : blur_points(points, 7, 5, sigma)) sum += value;
    CHECK(sum == doctest::Approx(4).epsilon(1e-12));
  }
  CHECK(blur_points(points, 7, 5, 0)[2 * 7 + 3] == 2);
  test::refusal_of(ErrorKind::Usage, [&] { blur_points(points, 7, 5, -1); });
  test::refusal_of(ErrorKind::Input, [&] { blur_points(points, 6, 5, 1); });
}

TEST_CASE("centre bias: a Gaussian has the points' mean and deviation, at any size") {
  std::vector<ScoredImage> images = {{"a", 100, 50, {{20, 25}, {40, 25}}, {}},
                                     {"b", 50, 100, {{10, 40}, {20, 60}}, {}}};
  const auto map = CentreBias::gaussian(images).map(200, 80);
  double sum = 0, x_mean = 0;
  for (std::size_t i = 0; i < map.size(); ++i) {
    sum += map[i];
    x_mean += map[i] * (static_cast<double>(i % 200) + 0.5) / 200;
  }
  CHECK(sum == doctest::Approx(1));
  CHECK(x_mean == doctest::Approx(0.3).epsilon(0.01));
  images[0].points.clear();
  images[1].points = {{-1, 3}};
  test::refusal_of(ErrorKind::Input, [&] { CentreBias::gaussian(images); });
}

TEST_CASE("score: means over images and over fixations equal pysaliency's") {
  const auto golden = samples::golden_set();
  if (golden.images.empty()) return;
  std::vector<ScoredImage> images;
  for (const auto& image : golden.images) {
    images.push_back({"", image.map.width, image.map.height, image.points, {}});
  }
  const auto scorer = scorer_of(images, Definition::Tuebingen, 2);
  const auto row = scorer.row(
      "model", [&](std::size_t i) { return samples::as_float(golden.images[i].map).values; },
      [&](std::size_t i) { return samples::as_float(golden.images[i].blurred).values; });
  const auto& expected = golden.numbers.at("overall_pysaliency");
  const auto check_mean = [&](const std::string& name, Metric metric) {
    CAPTURE(name);
    CHECK(std::abs(at(row.mean(Averaging::Fixations), metric) -
                   expected.at(name + "_mean_over_fixations").get<double>()) < 1e-6);
    CHECK(std::abs(at(row.mean(Averaging::Images), metric) -
                   expected.at(name + "_mean_over_images").get<double>()) < 1e-6);
  };
  check_mean("AUC", Metric::AucJudd);
  check_mean("sAUC", Metric::ShuffledAuc);
  check_mean("NSS", Metric::Nss);
  CHECK(at(row.mean(Averaging::Images), Metric::Cc) ==
        at(row.mean(Averaging::Fixations), Metric::Cc));
  CHECK(std::isnan(at(row.images[0].values, Metric::AucBorji)));
}

TEST_CASE("score: the baselines rank as they must") {
  const auto images = small_set(12);
  for (const auto definition : {Definition::Tuebingen, Definition::Mit}) {
    CAPTURE(to_string(definition));
    const auto scorer = scorer_of(images, definition, 2);
    const auto truth = truth_of(images);
    const auto averaging = usual_averaging(definition);
    const auto uniform = scorer.uniform_row(truth).mean(averaging);
    const auto centre = scorer.centre_bias_row(truth).mean(averaging);
    const auto others = scorer.other_images_row(truth).mean(averaging);
    const auto people = scorer.other_observers_row().mean(averaging);
    CHECK(at(uniform, Metric::AucJudd) == 0.5);
    CHECK(at(uniform, Metric::Nss) == 0);
    CHECK(std::abs(at(centre, Metric::Ig)) < 1e-6);
    CHECK(at(centre, Metric::Nss) > 0.1);
    CHECK(at(others, Metric::AucJudd) < at(centre, Metric::AucJudd));
    CHECK(at(people, Metric::Nss) > at(centre, Metric::Nss));
    CHECK(std::isnan(at(people, Metric::Kld)));
    const auto best = scorer.row("truth", truth, truth).mean(averaging);
    CHECK(at(best, Metric::Cc) == doctest::Approx(1));
    CHECK(at(best, Metric::Sim) == doctest::Approx(1));
    CHECK(at(best, Metric::ShuffledAuc) > at(centre, Metric::ShuffledAuc));
    CHECK(at(best, Metric::Ig) > 0);
  }
}

TEST_CASE("score: leaving an image out of the blurred set equals blurring the rest") {
  const auto images = small_set(4);
  const auto scorer = scorer_of(images, Definition::Tuebingen);
  const auto row = scorer.other_images_row(truth_of(images));
  std::vector<MapPoint> rest;
  for (std::size_t i = 1; i < images.size(); ++i) {
    const auto scaled = rescale_points(images[i].points, images[i].width, images[i].height,
                                       images[0].width, images[0].height);
    rest.insert(rest.end(), scaled.begin(), scaled.end());
  }
  const auto map = blur_points(rest, images[0].width, images[0].height, 0.03 * images[0].width);
  const double expected = nss(MeasuredMap<double>(map, images[0].width, images[0].height),
                              images[0].points, Definition::Tuebingen);
  CHECK(at(row.images[0].values, Metric::Nss) == doctest::Approx(expected).epsilon(1e-5));
}

TEST_CASE("score: the number of threads changes nothing") {
  const auto images = small_set(9);
  const auto truth = truth_of(images);
  for (const auto definition : {Definition::Tuebingen, Definition::Mit}) {
    const auto one = scorer_of(images, definition, 1).centre_bias_row(truth);
    const auto many = scorer_of(images, definition, 4).centre_bias_row(truth);
    CHECK(scores_csv({{one}}, Averaging::Images) == scores_csv({{many}}, Averaging::Images));
  }
}

TEST_CASE("score: points outside are dropped and counted, images without any are named") {
  auto images = small_set(3);
  images[1].points.push_back({400, 2});
  images[1].observers.push_back(1);
  const auto truth = truth_of(small_set(3));
  const auto row = scorer_of(images, Definition::Tuebingen).uniform_row([&](std::size_t index) {
    return std::vector<float>(static_cast<std::size_t>(images[index].width * 30), 1.F);
  });
  CHECK(row.images[1].dropped == 1);
  CHECK(row.images[1].fixations == 18);
  CHECK(row.fixations() == 54);

  images[2].points = {{-1, -1}};
  images[2].observers = {0};
  const auto refusal = [&] {
    return test::refusal_of(ErrorKind::Input,
                            [&] { SetScorer(images, CentreBias::gaussian(small_set(3)), {}); });
  };
  CHECK(test::contains(refusal(), "'image 2' has no fixations"));
  images[2].observers.clear();
  images[2].points = {{1, 1}};
  images[1].observers.pop_back();
  CHECK(test::contains(refusal(), "18 observers for 19 points"));
  images.resize(1);
  CHECK(test::contains(refusal(), "got 1 images"));
}

TEST_CASE("score: observers that cannot predict each other, maps of another size") {
  auto images = small_set(3);
  images[2].observers.clear();
  const auto scorer = scorer_of(images, Definition::Tuebingen);
  CHECK(test::contains(test::refusal_of(ErrorKind::Input, [&] { scorer.other_observers_row(); }),
                       "'image 2'"));
  const std::vector<float> small(4, 1.F);
  const MeasuredMap<float> map(small, 2, 2);
  CHECK(test::contains(test::refusal_of(ErrorKind::Input, [&] { scorer.score(0, map, map); }),
                       "got 2 x 2"));
}

TEST_CASE("score: table, JSON and CSV say the same") {
  auto images = small_set(3);
  images[0].name = "a, \"quoted\" name";
  const auto scorer = scorer_of(images, Definition::Tuebingen);
  const std::vector<ScoreRow> rows = {scorer.uniform_row(truth_of(images)),
                                      scorer.other_observers_row()};
  const auto table = score_table(rows, Averaging::Fixations);
  CHECK(test::contains(table, "AUC-Judd"));
  CHECK(test::contains(table, "uniform"));
  CHECK(test::contains(table, "0.5000"));

  const auto json = scores_json(rows, scorer.options());
  CHECK(json.at("schema") == "ubique.saliency_scores");
  CHECK(json.at("rows").size() == 2);
  CHECK(json.at("rows")[1].at("images")[0].at("kld").is_null());
  CHECK(json.at("rows")[0].at("images")[0].at("name") == images[0].name);

  const auto lines = parse_csv(scores_csv(rows, Averaging::Fixations), "scores");
  REQUIRE(lines.size() == 1 + 6 + 2);
  CHECK(lines[0].fields.size() == 4 + kMetricCount);
  CHECK(lines[1].fields[1] == images[0].name);
  CHECK(lines[7].fields[1].empty());
  CHECK(std::stod(lines[8].fields[7]) == at(rows[1].mean(Averaging::Fixations), Metric::Nss));
  CHECK(lines[8].fields[5].empty());  // AUC-Borji
}

TEST_CASE("colour distance: pixels away from the median colour score high") {
  io::Picture picture{8, 6, 3, {}};
  for (int i = 0; i < 48; ++i) {
    for (const int value : {100, 50, i == 19 ? 90 : 20}) {
      picture.pixels.push_back(static_cast<std::uint8_t>(value));
    }
  }
  const auto map = colour_distance(picture, 0.1);  // hardly blurred
  for (std::size_t i = 0; i < 48; ++i) CHECK(map[i] == doctest::Approx(i == 19 ? 70 : 0));
  const auto blurred = colour_distance(picture, 1);
  CHECK(blurred[19] < 70);
  CHECK(blurred[18] > 5);
  picture.channels = 1;
  CHECK(test::error_of([&] { colour_distance(picture, 1); }).starts_with("internal: "));
}

}  // namespace ubique::msinet
