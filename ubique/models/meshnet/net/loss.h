// SPDX-License-Identifier: Apache-2.0
// The segmentation loss: cross entropy with class weights and label smoothing, averaged with the
// voxels' class weights, computed in chunks of voxels.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace ubique::meshnet {

struct LossOptions {
  std::vector<double> class_weights = {0.5, 1.0};  ///< one per class; empty = all 1
  double label_smoothing = 0.01;
  std::int64_t chunk_voxels = 1 << 20;  ///< voxels whose f32 logits are in memory at once
};

/// Mean loss, f32 scalar (f64 for f64 logits). logits (B, K, D, H, W) of any float type, mask
/// (B, D, H, W) u8 or i64 with labels below K. A batch whose weights are all zero gives 0.
at::Tensor segmentation_loss(const at::Tensor& logits, const at::Tensor& mask,
                             const LossOptions& options);

/// The denominator of that mean: the sum of the class weights of all voxels.
double class_weight_sum(const at::Tensor& mask, const LossOptions& options);

}  // namespace ubique::meshnet
