// SPDX-License-Identifier: Apache-2.0
// Checks shapes and labels, and calls the chunked cross-entropy kernel.
#include "ubique/models/meshnet/net/loss.h"

#include <ATen/ATen.h>

#include <fmt/ranges.h>

#include "ubique/base/error.h"
#include "ubique/kernels/conv/cross_entropy.h"

namespace ubique::meshnet {
namespace {

at::Tensor weights_tensor(const LossOptions& options, std::int64_t classes,
                          const at::Tensor& like) {
  const auto dtype = like.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const auto& given = options.class_weights;
  check(given.empty() || std::cmp_equal(given.size(), classes), ErrorKind::Usage,
        "[meshnet.loss] {} class weights for {} classes; expected one for each.", given.size(),
        classes);
  auto weights = at::ones({classes}, at::TensorOptions(dtype));
  for (std::size_t i = 0; i < given.size(); ++i) {
    weights[static_cast<std::int64_t>(i)].fill_(given[i]);
  }
  return weights.to(like.device(), dtype);
}

}  // namespace

at::Tensor segmentation_loss(const at::Tensor& logits, const at::Tensor& mask,
                             const LossOptions& options) {
  check(logits.dim() == 5 && mask.dim() == 4 && mask.size(0) == logits.size(0) &&
            mask.sizes().slice(1) == logits.sizes().slice(2),
        ErrorKind::Input,
        "[meshnet.loss] the mask does not fit the image; got {}, expected {} with one label per "
        "voxel.",
        fmt::format("{}", mask.sizes().vec()), fmt::format("{}", logits.sizes().vec()));
  return kernels::weighted_cross_entropy(logits, mask,
                                         weights_tensor(options, logits.size(1), logits),
                                         {options.label_smoothing, options.chunk_voxels});
}

double class_weight_sum(const at::Tensor& mask, const LossOptions& options) {
  const auto& weights = options.class_weights;
  if (weights.empty()) return static_cast<double>(mask.numel());
  double sum = 0;
  std::int64_t counted = 0;
  for (std::size_t label = 0; label < weights.size(); ++label) {
    const auto count = mask.eq(static_cast<std::int64_t>(label)).sum().item<std::int64_t>();
    sum += weights[label] * static_cast<double>(count);
    counted += count;
  }
  check(counted == mask.numel(), ErrorKind::Input,
        "[meshnet.loss] {} voxels of the mask have labels beyond the classes; expected 0 to {}.",
        mask.numel() - counted, weights.size() - 1);
  return sum;
}

}  // namespace ubique::meshnet
