// SPDX-License-Identifier: Apache-2.0
// The op ubique::convolve_relu: a 2D or 3D convolution with bias and ReLU, in one kernel where the
// device has one; the reference computes them one after the other. No gradients.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace ubique::kernels {

/// x (B, I, [D,] H, W), weight (O, I, [k,] k, k), stride 1; one `padding` per spatial axis.
at::Tensor convolve_relu(const at::Tensor& x, const at::Tensor& weight,
                         const std::optional<at::Tensor>& bias, at::IntArrayRef padding,
                         std::int64_t dilation);

}  // namespace ubique::kernels
