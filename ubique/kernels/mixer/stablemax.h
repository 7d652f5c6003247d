// SPDX-License-Identifier: Apache-2.0
// Cross entropy of stablemax, which has s(x) = x + 1 (1 / (1 - x) below zero) where softmax has
// exp(x). The original does it in float64, which Metal refuses; written as log1p of a ratio it
// keeps f32's seven digits all the way down to a loss of zero.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ubique::kernels {

/// Logits (..., V) of any float dtype, labels (...) of any integer; f32 (f64 for f64), 0 where the
/// label is `ignored`. Labels of other tokens must be below V.
at::Tensor stablemax_cross_entropy(const at::Tensor& logits, const at::Tensor& labels,
                                   std::int64_t ignored = -100);

}  // namespace ubique::kernels
