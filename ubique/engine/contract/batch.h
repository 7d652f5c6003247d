// SPDX-License-Identifier: Apache-2.0
// Input and output of a training step: a batch of tensors, the loss and the metrics. Knows no
// family and no device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ubique::engine {

/// Collated samples; the first dimension of every tensor is the sample.
struct Batch {
  std::map<std::string, at::Tensor> tensors;  ///< "image", "mask": the family's own names
  std::int64_t samples = 0;
  /// The denominator of the loss: samples, tokens, weighted voxels. Under gradient accumulation
  /// micro-batches are weighted by it, so that an update does not depend on their size.
  double weight = 0;
  std::int64_t first = 0;  ///< index of its first sample within the update
};

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;
using Scores = std::vector<std::pair<std::string, double>>;  ///< in the order to print them

/// A metric whose denominator differs from batch to batch: device scalars without gradient.
struct Ratio {
  std::string name;
  at::Tensor sum, count;
};

/// Result of a forward pass in training.
struct Step {
  at::Tensor loss;                 ///< f32 scalar, a mean over Batch::weight
  NamedTensors metrics = {};       ///< device scalars without gradient, means over Batch::weight
  std::vector<Ratio> ratios = {};  ///< logged as means over all updates since the last log
};

}  // namespace ubique::engine
