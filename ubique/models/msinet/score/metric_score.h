// SPDX-License-Identifier: Apache-2.0
// All metrics over a whole data set: a row of scores for a model, and rows for the baselines
// (uniform, centre bias, other images) and for other observers. Maps come from functions; no I/O.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ubique/models/msinet/score/metric_auc.h"
#include "ubique/models/msinet/score/metric_centre.h"

namespace ubique::msinet {

/// The mean that a set's score is. Fixations applies to the metrics that are means over fixations
/// (AUC, sAUC, NSS, IG); the others always average over images.
enum class Averaging { Images, Fixations };

/// As in the benchmarks: Mit over images; Tuebingen (MIT300, MIT1003) over fixations.
Averaging usual_averaging(Definition definition);

/// In the order of Metric; NaN where a metric is not defined.
using MetricValues = std::array<double, kMetricCount>;

struct ImageScore {
  std::string name;
  std::int64_t fixations = 0, dropped = 0;  ///< dropped: points outside of the image
  MetricValues values{};
};

struct ScoreRow {
  std::string name;  ///< "model", "centre bias", ...
  std::vector<ImageScore> images;

  MetricValues mean(Averaging averaging) const;
  std::int64_t fixations() const;
};

struct ScoreOptions {
  Definition definition = Definition::Tuebingen;
  double uniform = 0.01;     ///< share of the uniform density in IG (Tuebingen)
  double blur_share = 0.03;  ///< standard deviation of blurs / longer side
  int other_images = 10;     ///< images that sAUC takes negatives from (Mit)
  AucSampling sampling;
  int threads = 1;
};

/// The map of image `index`, width x height values; called from several threads.
using MapOf = std::function<std::vector<float>(std::size_t index)>;

class SetScorer {
 public:
  /// Points outside of their image are dropped and counted. Input error for an image without points
  /// or with another number of observers than points, and for fewer than two images.
  SetScorer(std::vector<ScoredImage> images, const CentreBias& bias, ScoreOptions options);

  std::size_t size() const { return images_.size(); }
  const ScoredImage& image(std::size_t index) const { return images_[index]; }
  const ScoreOptions& options() const { return options_; }

  /// One image; may be called from several threads.
  ImageScore score(std::size_t index, const MeasuredMap<float>& map,
                   const MeasuredMap<float>& truth) const;
  /// The whole set, images in parallel.
  ScoreRow row(const std::string& name, const MapOf& map, const MapOf& truth) const;

  ScoreRow uniform_row(const MapOf& truth) const;
  ScoreRow centre_bias_row(const MapOf& truth) const;
  /// Fixations of all other images, blurred: a centre bias without the image itself.
  ScoreRow other_images_row(const MapOf& truth) const;
  /// Each observer's fixations scored by the blurred fixations of the others: how well people
  /// predict each other. Only metrics of fixations; Input error for an image with fewer than two
  /// observers.
  ScoreRow other_observers_row() const;

 private:
  std::vector<MapPoint> points_of_others(std::size_t index) const;
  /// AUC-Judd, AUC-Borji, sAUC, NSS and IG of the given points.
  void score_points(std::size_t index, std::span<const MapPoint> points,
                    const MeasuredMap<float>& map, MetricValues& values) const;
  ImageScore score_observers(std::size_t index) const;
  std::vector<double> blurred_set(int width, int height) const;
  template <typename Score>
  ScoreRow each_image(const std::string& name, const Score& score) const;

  std::vector<ScoredImage> images_;
  std::vector<std::int64_t> dropped_;
  ScoreOptions options_;
  std::map<std::pair<int, int>, std::vector<double>> baselines_;  // by width and height
};

}  // namespace ubique::msinet
