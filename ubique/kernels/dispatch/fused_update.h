// SPDX-License-Identifier: Apache-2.0
// A whole optimizer update over many tensors for which a device may provide a fused kernel, through
// the dispatcher like the ops of fused_conv.h.
#pragma once

#include <ATen/core/Tensor.h>

namespace ubique::kernels::fused {

struct AdamAtan2Numbers {
  double beta1 = 0.9, beta2 = 0.95, weight_decay = 0;
  double average_share = 0;  ///< share of the new weights in their moving average
};

/// True if the device of `weight` has the kernel for its dtype.
bool does_adam_atan2(const at::Tensor& weight);

/// p *= 1 - lr·decay, moments, p -= lr/c1 · atan2(m, sqrt(v/c2)), then the moving averages (an
/// empty list = none). Where `bad` is 1 only the averages are updated. `lr`, `step` (already
/// incremented) and `bad` are f32 device scalars.
void adam_atan2_(at::TensorList weights, at::TensorList gradients, at::TensorList means,
                 at::TensorList squares, at::TensorList averages, const at::Tensor& lr,
                 const at::Tensor& step, const at::Tensor& bad, const AdamAtan2Numbers& numbers);

}  // namespace ubique::kernels::fused
