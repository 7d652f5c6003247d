// SPDX-License-Identifier: Apache-2.0
// The centre bias: where people look regardless of the image. Fitted to the fixations of a training
// set in relative coordinates; gives a map for any image size.
#pragma once

#include <string>
#include <vector>

#include "ubique/models/msinet/score/metric.h"

namespace ubique::msinet {

/// An image for scoring: its size and its fixations.
struct ScoredImage {
  std::string name;
  int width = 0, height = 0;
  std::vector<MapPoint> points;
  std::vector<int> observers;  ///< observer of each point; empty if unknown
};

class CentreBias {
 public:
  /// All points blurred with a standard deviation of `share` times the longer side of the image.
  static CentreBias blurred(std::span<const ScoredImage> images, double share = 0.03);
  /// One Gaussian with the mean and standard deviations of the points.
  static CentreBias gaussian(std::span<const ScoredImage> images);

  /// The map for an image of this size; values add up to 1.
  std::vector<double> map(int width, int height) const;

 private:
  std::vector<MapPoint> relative_;  // 0 to 1; empty for a Gaussian
  double share_ = 0;
  MapPoint mean_, deviation_;
};

}  // namespace ubique::msinet
