// SPDX-License-Identifier: Apache-2.0
// Means of values on the device, over several updates: RunningMean for a weighted mean, RatioSums
// for ratios with varying denominators. Adding does not wait for the device; reading does.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <span>
#include <string>
#include <vector>

#include "ubique/engine/contract/batch.h"

namespace ubique::engine {

class RunningMean {
 public:
  explicit RunningMean(c10::Device device, double mean = 0, double weight = 0);
  /// Non-finite values are ignored.
  void add(const at::Tensor& value, double weight);
  double mean() const;  ///< NaN without any finite value
  double weight() const;

 private:
  at::Tensor mean_, weight_;  // f32 scalars
};

class RatioSums {
 public:
  /// The ratios of one update; the same names every time.
  void add(const std::vector<Ratio>& ratios);
  /// Device scalars, in the order in which means() takes their values.
  std::vector<at::Tensor> scalars() const;
  /// From the values of scalars(); ratios with count 0 are omitted.
  Scores means(std::span<const double> values) const;
  void clear();

 private:
  std::vector<std::string> names_;
  at::Tensor sums_;  // (2, ratios) f32: sums, counts
};

}  // namespace ubique::engine
