// SPDX-License-Identifier: Apache-2.0
// The weighted mean of values that are still on the device. Reading it waits; adding does not.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

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

}  // namespace ubique::engine
