// SPDX-License-Identifier: Apache-2.0
// Cross entropy with class weights and label smoothing over many positions, computed in chunks in
// both directions: neither an f32 copy of all logits nor a one-hot target ever exists.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ubique::kernels {

struct CrossEntropyOptions {
  double label_smoothing = 0;
  std::int64_t chunk = 1 << 20;  ///< positions converted to f32 at a time
};

/// Σ [(1-s)·w_y·(-log p_y) + (s/K)·Σ_c w_c·(-log p_c)] / Σ w_y over all positions; 0 where Σ w_y
/// is 0. logits (B, K, ...) of any float type, target (B, ...) of integers in [0, K), weights (K)
/// f32 (f64 for f64 logits) on the same device. Supports one backward pass, to the logits.
at::Tensor weighted_cross_entropy(const at::Tensor& logits, const at::Tensor& target,
                                  const at::Tensor& weights, const CrossEntropyOptions& options);

}  // namespace ubique::kernels
