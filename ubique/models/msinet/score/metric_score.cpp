// SPDX-License-Identifier: Apache-2.0
// Scores of each image in parallel; the baseline maps.
#include "ubique/models/msinet/score/metric_score.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "ubique/base/error.h"
#include "ubique/base/numbers/random.h"
#include "ubique/base/parallel.h"
#include "ubique/base/text/json.h"
#include "ubique/engine/ranks/rank_jobs.h"
#include "ubique/models/msinet/score/metric_blur.h"
#include "ubique/models/msinet/score/metric_pairs.h"

namespace ubique::msinet {
namespace {

constexpr std::uint64_t kSourcesStream = 4;
constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

double& value_of(MetricValues& values, Metric metric) {
  return values[static_cast<std::size_t>(metric)];
}

bool is_mean_over_fixations(std::size_t metric) {
  const auto which = static_cast<Metric>(metric);
  return which != Metric::Cc && which != Metric::Kld && which != Metric::Sim;
}

void check_image(const ScoredImage& image) {
  check(image.width > 0 && image.height > 0, ErrorKind::Input,
        "[msinet.score] image '{}' has no size; got {} x {}, expected 1 x 1 or more.", image.name,
        image.width, image.height);
  check(image.observers.empty() || image.observers.size() == image.points.size(), ErrorKind::Input,
        "[msinet.score] image '{}' does not say who made each fixation; got {} observers for {} "
        "points, expected one each or none.",
        image.name, image.observers.size(), image.points.size());
}

/// Removes points outside of the image, and their observers; returns how many.
std::int64_t drop_outside(ScoredImage& image) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < image.points.size(); ++i) {
    if (!inside(image.points[i], image.width, image.height)) continue;
    image.points[kept] = image.points[i];
    if (!image.observers.empty()) image.observers[kept] = image.observers[i];
    ++kept;
  }
  const auto dropped = static_cast<std::int64_t>(image.points.size() - kept);
  image.points.resize(kept);
  if (!image.observers.empty()) image.observers.resize(kept);
  check(kept > 0, ErrorKind::Input,
        "[msinet.score] image '{}' has no fixations to score with; got 0 inside of {} x {} and {} "
        "outside, expected 1 or more. Leave it out of the set.",
        image.name, image.width, image.height, dropped);
  return dropped;
}

std::vector<float> to_floats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

MeasuredMap<float> measured(const std::vector<float>& values, const ScoredImage& image) {
  return {values, image.width, image.height};
}

Json to_json(const ImageScore& score) {
  return {score.name, score.fixations, score.dropped, score.values};
}

ImageScore image_score_of(const Json& json) {
  return {json[0], json[1], json[2], json[3].get<MetricValues>()};
}

}  // namespace

Averaging usual_averaging(Definition definition) {
  return definition == Definition::Mit ? Averaging::Images : Averaging::Fixations;
}

MetricValues ScoreRow::mean(Averaging averaging) const {
  MetricValues sums{};
  for (std::size_t metric = 0; metric < kMetricCount; ++metric) {
    const bool weighted = averaging == Averaging::Fixations && is_mean_over_fixations(metric);
    double weights = 0;
    for (const auto& image : images) {
      const double weight = weighted ? static_cast<double>(image.fixations) : 1;
      sums[metric] += weight * image.values[metric];
      weights += weight;
    }
    sums[metric] = weights > 0 ? sums[metric] / weights : kUndefined;
  }
  return sums;
}

std::int64_t ScoreRow::fixations() const {
  std::int64_t count = 0;
  for (const auto& image : images) count += image.fixations;
  return count;
}

SetScorer::SetScorer(std::vector<ScoredImage> images, const CentreBias& bias, ScoreOptions options)
    : images_(std::move(images)), options_(options) {
  check(images_.size() >= 2, ErrorKind::Input,
        "[msinet.score] a set is too small to score; got {} images, expected 2 or more (the "
        "shuffled AUC needs fixations of other images).",
        images_.size());
  for (auto& image : images_) {
    check_image(image);
    dropped_.push_back(drop_outside(image));
    const std::pair size{image.width, image.height};
    if (!baselines_.contains(size)) baselines_[size] = bias.map(image.width, image.height);
  }
}

/// Tuebingen: of all other images; Mit: of a few, drawn for each image.
std::vector<MapPoint> SetScorer::points_of_others(std::size_t index) const {
  std::vector<std::size_t> sources;
  for (std::size_t i = 0; i < images_.size(); ++i) {
    if (i != index) sources.push_back(i);
  }
  const auto wanted = static_cast<std::size_t>(std::max(1, options_.other_images));
  if (options_.definition == Definition::Mit && sources.size() > wanted) {
    const auto random = Random(options_.sampling.seed, kSourcesStream).fork(index);
    for (std::size_t i = 0; i < wanted; ++i) {
      std::swap(sources[i], sources[i + random.below(i, sources.size() - i)]);
    }
    sources.resize(wanted);
  }
  const auto& here = images_[index];
  std::vector<MapPoint> points;
  for (const auto source : sources) {
    const auto& other = images_[source];
    const auto scaled =
        rescale_points(other.points, other.width, other.height, here.width, here.height);
    points.insert(points.end(), scaled.begin(), scaled.end());
  }
  return points;
}

void SetScorer::score_points(std::size_t index, std::span<const MapPoint> points,
                             const MeasuredMap<float>& map, MetricValues& values) const {
  const auto definition = options_.definition;
  auto sampling = options_.sampling;
  sampling.seed = Random(sampling.seed).fork(index).seed();
  const MeasuredMap<double> baseline(baselines_.at({map.width, map.height}), map.width, map.height);
  value_of(values, Metric::AucJudd) = auc_judd(map, points, definition);
  value_of(values, Metric::AucBorji) =
      defined_in(Metric::AucBorji, definition) ? auc_borji(map, points, sampling) : kUndefined;
  value_of(values, Metric::ShuffledAuc) =
      shuffled_auc(map, points, points_of_others(index), definition, sampling);
  value_of(values, Metric::Nss) = nss(map, points, definition);
  value_of(values, Metric::Ig) =
      information_gain(map, baseline, points, definition, options_.uniform, options_.uniform);
}

ImageScore SetScorer::score(std::size_t index, const MeasuredMap<float>& map,
                            const MeasuredMap<float>& truth) const {
  const auto& image = images_[index];
  check(map.width == image.width && map.height == image.height, ErrorKind::Input,
        "[msinet.score] the map of '{}' has another size than the image; got {} x {}, expected {} "
        "x {}.",
        image.name, map.width, map.height, image.width, image.height);
  ImageScore score{image.name, static_cast<std::int64_t>(image.points.size()), dropped_[index], {}};
  score_points(index, image.points, map, score.values);
  value_of(score.values, Metric::Cc) = cc(map, truth);
  value_of(score.values, Metric::Kld) = kld(map, truth);
  value_of(score.values, Metric::Sim) = sim(map, truth, options_.definition);
  return score;
}

/// All ranks, each its share.
template <typename Score>
ScoreRow SetScorer::each_image(const std::string& name, const Score& score) const {
  ScoreRow row{name, std::vector<ImageScore>(images_.size())};
  const engine::RankJobs jobs(std::ssize(images_));
  const auto mine = jobs.mine();
  std::vector<Json> done(mine.size());
  parallel_for(std::ssize(mine), options_.threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
      done[k] = to_json(score(static_cast<std::size_t>(mine[k])));
    }
  });
  const auto results = jobs.collect(std::move(done));
  for (std::size_t i = 0; i < results.size(); ++i) row.images[i] = image_score_of(results[i]);
  return row;
}

ScoreRow SetScorer::row(const std::string& name, const MapOf& map, const MapOf& truth) const {
  return each_image(name, [&](std::size_t index) {
    const auto values = map(index), true_values = truth(index);
    const auto& image = images_[index];
    return score(index, measured(values, image), measured(true_values, image));
  });
}

ScoreRow SetScorer::uniform_row(const MapOf& truth) const {
  const auto flat = [&](std::size_t index) {
    const auto& image = images_[index];
    return std::vector<float>(
        static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height), 1.F);
  };
  return row("uniform", flat, truth);
}

ScoreRow SetScorer::centre_bias_row(const MapOf& truth) const {
  const auto map = [&](std::size_t index) {
    return to_floats(baselines_.at({images_[index].width, images_[index].height}));
  };
  return row("centre bias", map, truth);
}

std::vector<double> SetScorer::blurred_set(int width, int height) const {
  std::vector<MapPoint> all;
  for (const auto& image : images_) {
    const auto scaled = rescale_points(image.points, image.width, image.height, width, height);
    all.insert(all.end(), scaled.begin(), scaled.end());
  }
  return blur_points(all, width, height, options_.blur_share * std::max(width, height));
}

ScoreRow SetScorer::other_images_row(const MapOf& truth) const {
  std::map<std::pair<int, int>, std::vector<double>> sets;
  for (const auto& [size, baseline] : baselines_) sets[size] = blurred_set(size.first, size.second);
  const auto map = [&](std::size_t index) {
    const auto& image = images_[index];
    auto rest = sets.at({image.width, image.height});  // blurring is linear: subtract its own
    const auto own = blur_points(image.points, image.width, image.height,
                                 options_.blur_share * std::max(image.width, image.height));
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = std::max(rest[i] - own[i], 0.0);
    return to_floats(rest);
  };
  return row("other images", map, truth);
}

ImageScore SetScorer::score_observers(std::size_t index) const {
  const auto& image = images_[index];
  const std::set<int> observers(image.observers.begin(), image.observers.end());
  check(observers.size() >= 2, ErrorKind::Input,
        "[msinet.score] observers of '{}' cannot predict each other; got {}, expected 2 or more. "
        "Leave this row out.",
        image.name, observers.size());
  ImageScore score{image.name, static_cast<std::int64_t>(image.points.size()), dropped_[index], {}};
  for (const int observer : observers) {
    std::vector<MapPoint> own, others;
    for (std::size_t i = 0; i < image.points.size(); ++i) {
      (image.observers[i] == observer ? own : others).push_back(image.points[i]);
    }
    const auto values =
        to_floats(blur_points(others, image.width, image.height,
                              options_.blur_share * std::max(image.width, image.height)));
    MetricValues part{};
    score_points(index, own, measured(values, image), part);
    const double weight = static_cast<double>(own.size()) / static_cast<double>(score.fixations);
    for (std::size_t m = 0; m < kMetricCount; ++m) score.values[m] += weight * part[m];
  }
  for (const auto metric : {Metric::Cc, Metric::Kld, Metric::Sim}) {
    value_of(score.values, metric) = kUndefined;
  }
  return score;
}

ScoreRow SetScorer::other_observers_row() const {
  return each_image("other observers", [&](std::size_t index) { return score_observers(index); });
}

}  // namespace ubique::msinet
