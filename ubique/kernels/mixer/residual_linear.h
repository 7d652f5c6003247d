// SPDX-License-Identifier: Apache-2.0
// The start of a residual sub-layer: x·Wᵀ for the branch, and x for the residual sum. Backward adds
// the branch's gradient to the residual's inside the matrix product: one pass less.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

#include "ubique/kernels/dispatch/cast_weight.h"

namespace ubique::kernels {

/// x·weightᵀ and x, for x (B, L, H).
std::tuple<at::Tensor, at::Tensor> linear_and_residual(const at::Tensor& x,
                                                       const CastWeight& weight);

}  // namespace ubique::kernels
