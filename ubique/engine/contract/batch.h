// SPDX-License-Identifier: Apache-2.0
// What flows through a training step: a batch of tensors in, a loss and metrics out. Knows no
// family and no device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ubique::engine {

/// Some samples, collated; the first dimension of every tensor counts them.
struct Batch {
  std::map<std::string, at::Tensor> tensors;  ///< "image", "mask": the family's own names
  std::int64_t samples = 0;
  /// What the loss is a mean over: samples, tokens, weighted voxels. Batches that make up one
  /// update count in proportion to it, so that the update does not depend on how they were cut.
  double weight = 0;
  std::int64_t first = 0;  ///< place of its first sample within the update
};

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;
using Scores = std::vector<std::pair<std::string, double>>;  ///< in the order to print them

/// A mean over things of which a batch has now many, now few: device scalars without gradient.
struct Ratio {
  std::string name;
  at::Tensor sum, count;
};

/// What a model makes of a batch in training.
struct Step {
  at::Tensor loss;                 ///< f32 scalar, a mean over Batch::weight
  NamedTensors metrics = {};       ///< device scalars without gradient, means over Batch::weight
  std::vector<Ratio> ratios = {};  ///< told as means over all updates since they were last told
};

}  // namespace ubique::engine
