// SPDX-License-Identifier: Apache-2.0
// The loss of next-token prediction from logits, and its gradient in their place: one pass over the
// largest tensor of a language model instead of ten.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace ubique::kernels {

/// True if the device has the kernel for these logits (n, V).
bool does_token_gradient(const at::Tensor& logits);

/// Per row the cross-entropy and whether the largest logit is the label's, both (n) f32 and 0 for
/// rows whose label is negative. With `gradient`, `logits` become softmax minus one at the label
/// (0 in rows without a label). `labels` (n) i64, below V. Only after does_token_gradient().
std::tuple<at::Tensor, at::Tensor> token_gradient_(const at::Tensor& logits,
                                                   const at::Tensor& labels, bool gradient);

}  // namespace ubique::kernels
