// SPDX-License-Identifier: Apache-2.0
// The training loss: Kullback-Leibler divergence between the predicted map and the map of
// fixations, both as distributions over pixels.
#pragma once

#include <ATen/core/Tensor.h>

namespace ubique::msinet {

/// Mean over the batch of Σ t·ln(ε + t/(ε + p)), where t and p are target and map divided by
/// ε + their sums, ε = 1e-7; f32 scalar (f64 for f64 maps). map (B, 1, H, W), target of the same
/// shape or (B, H, W), u8 or float, not negative. A target that is zero everywhere has loss 0.
at::Tensor kld_loss(const at::Tensor& map, const at::Tensor& target);

}  // namespace ubique::msinet
