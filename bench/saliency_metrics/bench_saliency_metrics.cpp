// SPDX-License-Identifier: Apache-2.0
// Every saliency metric over a set of maps, each timed alone and all together.
// bench/peers/saliency_metrics.py makes the set and runs pysaliency on it in the same run.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/parallel.h"
#include "ubique/base/text/json.h"
#include "ubique/models/msinet/score/metric_pairs.h"
#include "ubique/models/msinet/score/metric_score.h"

using namespace ubique;
using namespace ubique::msinet;

namespace {

/// set.json: width, height and the points of each image; maps.f32, truths.f32 and baseline.f64 are
/// raw values, images one after another.
class BenchSet {
 public:
  explicit BenchSet(const std::filesystem::path& folder)
      : maps_(folder / "maps.f32"), truths_(folder / "truths.f32"), base_(folder / "baseline.f64") {
    const auto json = parse_json(read_file(folder / "set.json"), "set.json");
    width_ = json.at("width").get<int>();
    height_ = json.at("height").get<int>();
    for (const auto& points : json.at("points")) {
      ScoredImage image{"", width_, height_, {}, {}};
      for (const auto& point : points) image.points.push_back({point[0], point[1]});
      images.push_back(image);
    }
  }
  MeasuredMap<float> map(std::size_t i) const { return {part(maps_, i), width_, height_}; }
  MeasuredMap<float> truth(std::size_t i) const { return {part(truths_, i), width_, height_}; }
  MeasuredMap<double> baseline() const {
    const auto* values = reinterpret_cast<const double*>(base_.bytes().data());
    return {{values, pixels()}, width_, height_};
  }
  /// As the set's scores gather them: rescaled, one image after another.
  std::vector<MapPoint> points_of_others(std::size_t index) const {
    std::vector<MapPoint> others;
    for (std::size_t i = 0; i < images.size(); ++i) {
      if (i == index) continue;
      const auto scaled = rescale_points(images[i].points, width_, height_, width_, height_);
      others.insert(others.end(), scaled.begin(), scaled.end());
    }
    return others;
  }
  std::vector<ScoredImage> images;

 private:
  std::size_t pixels() const { return static_cast<std::size_t>(width_ * height_); }
  std::span<const float> part(const MappedFile& file, std::size_t i) const {
    return {reinterpret_cast<const float*>(file.bytes().data()) + i * pixels(), pixels()};
  }
  MappedFile maps_, truths_, base_;
  int width_ = 0, height_ = 0;
};

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Median seconds and CPU seconds (of all threads) of a few rounds over the set, and the metric's
/// mean over fixations or images.
Json timed(const BenchSet& set, int threads, int repeats, bool by_fixation,
           const std::function<double(std::size_t)>& metric) {
  std::vector<double> seconds, cpu, values(set.images.size());
  for (int round = 0; round < repeats; ++round) {
    const auto processor = std::clock();
    const auto start = std::chrono::steady_clock::now();
    parallel_for(static_cast<std::int64_t>(values.size()), threads, [&](auto begin, auto end) {
      for (auto i = begin; i < end; ++i) {
        values[static_cast<std::size_t>(i)] = metric(static_cast<std::size_t>(i));
      }
    });
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    seconds.push_back(passed.count());
    cpu.push_back(static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC);
  }
  double sum = 0, weights = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double weight = by_fixation ? static_cast<double>(set.images[i].points.size()) : 1;
    sum += weight * values[i];
    weights += weight;
  }
  return {{"seconds", median_of(seconds)}, {"cpu", median_of(cpu)}, {"mean", sum / weights}};
}

Json run(const BenchSet& set, int threads, int repeats) {
  constexpr auto kNow = Definition::Tuebingen;
  const auto baseline = set.baseline();
  const auto points = [&](std::size_t i) -> const auto& { return set.images[i].points; };
  Json json;
  const auto add = [&](const char* name, bool by_fixation, const auto& metric) {
    json[name] = timed(set, threads, repeats, by_fixation, metric);
  };
  add("AUC-Judd", false, [&](auto i) { return auc_judd(set.map(i), points(i), Definition::Mit); });
  add("AUC-Borji", false, [&](auto i) { return auc_borji(set.map(i), points(i)); });
  add("AUC", true, [&](auto i) { return auc_judd(set.map(i), points(i), kNow); });
  add("sAUC", true,
      [&](auto i) { return shuffled_auc(set.map(i), points(i), set.points_of_others(i), kNow); });
  add("NSS", true, [&](auto i) { return nss(set.map(i), points(i), kNow); });
  add("CC", false, [&](auto i) { return cc(set.map(i), set.truth(i)); });
  add("KLD", false, [&](auto i) { return kld(set.map(i), set.truth(i)); });
  add("SIM", false, [&](auto i) { return sim(set.map(i), set.truth(i), kNow); });
  add("IG", true,
      [&](auto i) { return information_gain(set.map(i), baseline, points(i), kNow, 0.01); });
  for (const auto definition : {Definition::Tuebingen, Definition::Mit}) {
    ScoreOptions options;
    options.definition = definition;
    const SetScorer scorer(set.images, CentreBias::gaussian(set.images), options);
    const auto name = fmt::format("all, {}", to_string(definition));
    add(name.c_str(), false,
        [&](auto i) { return scorer.score(i, set.map(i), set.truth(i)).values[0]; });
  }
  return json;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "bench_saliency_metrics FOLDER THREADS REPEATS\n");
    return 2;
  }
  try {
    fmt::print("{}\n", run(BenchSet(argv[1]), std::atoi(argv[2]), std::atoi(argv[3])).dump());
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(exit_code(error.kind()));
  }
  return 0;
}
