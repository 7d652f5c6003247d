// SPDX-License-Identifier: Apache-2.0
// Fitting the centre bias and drawing it at a given size.
#include "ubique/models/msinet/score/metric_centre.h"

#include <algorithm>
#include <cmath>

#include "ubique/base/error.h"
#include "ubique/models/msinet/score/metric_auc.h"
#include "ubique/models/msinet/score/metric_blur.h"

namespace ubique::msinet {
namespace {

constexpr double kNarrowest = 0.01;  // of the image: lower bound for identical points

std::vector<MapPoint> relative_points(std::span<const ScoredImage> images) {
  std::vector<MapPoint> all;
  for (const auto& image : images) {
    std::int64_t dropped = 0;
    const auto kept = keep_inside(image.points, image.width, image.height, dropped);
    const auto scaled = rescale_points(kept, image.width, image.height, 1, 1);
    all.insert(all.end(), scaled.begin(), scaled.end());
  }
  check(!all.empty(), ErrorKind::Input,
        "[msinet.centre] a centre bias cannot be fitted; got no fixations in {} images, expected "
        "some.",
        images.size());
  return all;
}

void normalize_sum(std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  for (double& value : values) value /= sum;
}

}  // namespace

CentreBias CentreBias::blurred(std::span<const ScoredImage> images, double share) {
  CentreBias bias;
  bias.relative_ = relative_points(images);
  bias.share_ = share;
  return bias;
}

CentreBias CentreBias::gaussian(std::span<const ScoredImage> images) {
  const auto points = relative_points(images);
  const auto count = static_cast<double>(points.size());
  CentreBias bias;
  for (const auto& point : points) {
    bias.mean_.x += point.x / count;
    bias.mean_.y += point.y / count;
  }
  MapPoint variance;
  for (const auto& point : points) {
    variance.x += (point.x - bias.mean_.x) * (point.x - bias.mean_.x) / count;
    variance.y += (point.y - bias.mean_.y) * (point.y - bias.mean_.y) / count;
  }
  bias.deviation_ = {std::max(std::sqrt(variance.x), kNarrowest),
                     std::max(std::sqrt(variance.y), kNarrowest)};
  return bias;
}

std::vector<double> CentreBias::map(int width, int height) const {
  std::vector<double> values;
  if (!relative_.empty()) {
    values = blur_points(rescale_points(relative_, 1, 1, width, height), width, height,
                         share_ * std::max(width, height));
  } else {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const double right = ((x + 0.5) / width - mean_.x) / deviation_.x;
        const double down = ((y + 0.5) / height - mean_.y) / deviation_.y;
        values.push_back(std::exp(-0.5 * (right * right + down * down)));
      }
    }
  }
  normalize_sum(values);
  return values;
}

}  // namespace ubique::msinet
