// SPDX-License-Identifier: Apache-2.0
// Between two convolutions of a residual block: the bias, the residual and SiLU in one pass over
// memory instead of three.
#pragma once

#include <ATen/core/Tensor.h>

namespace ubique::kernels {

/// True if the device has the kernel for x (B, C, 1, L) whose channels lie side by side, and a bias
/// of its dtype.
bool does_biased_silu(const at::Tensor& x, const at::Tensor& bias);

struct Activated {
  at::Tensor sum, silu;
};

/// x + bias + residual and its SiLU, which takes the memory of x; without a residual (undefined)
/// there is no sum. Only after does_biased_silu(); no autograd.
Activated biased_silu(const at::Tensor& x, const at::Tensor& bias, const at::Tensor& residual);

}  // namespace ubique::kernels
