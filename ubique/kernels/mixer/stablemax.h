// SPDX-License-Identifier: Apache-2.0
// Cross entropy of stablemax, which replaces softmax's exp(x) by s(x) = x + 1 (1 / (1 - x) below
// zero). The original computes in float64, which Metal lacks; as log1p of a ratio, f32 keeps its
// seven digits down to a loss of zero.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ubique::kernels {

/// Loss per token, f32 (f64 for f64 logits), 0 where the label is `ignored`. Logits (..., V) of any
/// float dtype, labels (...) of any integer dtype; all other labels must be in [0, V).
at::Tensor stablemax_cross_entropy(const at::Tensor& logits, const at::Tensor& labels,
                                   std::int64_t ignored = -100);

}  // namespace ubique::kernels
