// SPDX-License-Identifier: Apache-2.0
// A whole optimizer step over many tensors for which a device may bring a kernel of its own; see
// fused.h.
#pragma once

#include <ATen/core/Tensor.h>

namespace ubique::kernels::fused {

struct AdamAtan2Numbers {
  double beta1 = 0.9, beta2 = 0.95, weight_decay = 0;
  double average_share = 0;  ///< of the weights in their averages, each time
};

/// For weights like this one?
bool does_adam_atan2(const at::Tensor& weight);

/// p *= 1 - lr·decay, moments, p -= lr/c1 · atan2(m, sqrt(v/c2)), then averages (none: an empty
/// list) go towards p; nothing but that where `bad` is 1. `lr`, `step` (counted up already) and
/// `bad` are f32 device scalars.
void adam_atan2_(at::TensorList weights, at::TensorList gradients, at::TensorList means,
                 at::TensorList squares, at::TensorList averages, const at::Tensor& lr,
                 const at::Tensor& step, const at::Tensor& bad, const AdamAtan2Numbers& numbers);

}  // namespace ubique::kernels::fused
