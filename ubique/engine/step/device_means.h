// SPDX-License-Identifier: Apache-2.0
// The weighted mean of values that are still on the device. Reading it waits; adding does not.
// Sums and counts of ratios over several updates, still on the device. Adding does not wait.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <span>
#include <vector>

#include "ubique/engine/contract/batch.h"

namespace ubique::engine {

class RunningMean {
 public:
  explicit RunningMean(c10::Device device, double mean = 0, double weight = 0);
  /// A value that is not finite is left out.
  void add(const at::Tensor& value, double weight);
  double mean() const;  ///< NaN if there was nothing to take the mean of
  double weight() const;

 private:
  at::Tensor mean_, weight_;  // f32 scalars
};

class RatioSums {
 public:
  /// Of one update; always of the same names.
  void add(const std::vector<Ratio>& ratios);
  /// Device tensors of one value each, in the order in which means() wants their values.
  std::vector<at::Tensor> scalars() const;
  /// From the values of scalars(); a ratio of nothing is left out.
  Scores means(std::span<const double> values) const;
  void clear();

 private:
  std::vector<std::string> names_;
  at::Tensor sums_;  // (2, ratios) f32: sums, counts
};

}  // namespace ubique::engine
