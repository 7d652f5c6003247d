// SPDX-License-Identifier: Apache-2.0
// Cross-entropy of next-token prediction over a large vocabulary, computed a few rows at a time:
// the logits of a whole batch, often the largest tensor of a training step, never exist.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ubique::nn {

/// Labels that have no loss, as in other libraries.
inline constexpr std::int64_t kIgnoredToken = -100;

struct TokenLoss {
  at::Tensor sum;      ///< f32 scalar: summed over the labels that count, with a gradient
  at::Tensor correct;  ///< f32 scalar: labels that have the largest logit, without a gradient
};

/// hidden (N, H), head (V, H), head_bias (V) or undefined, labels (N) i64, where kIgnoredToken has
/// no loss. Logits are made in `dtype`, the loss in f32. With gradients, the backward pass of the
/// head is done here as well, so that each piece of logits is made once.
TokenLoss token_loss(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& head_bias,
                     const at::Tensor& labels, at::ScalarType dtype);

}  // namespace ubique::nn
