// SPDX-License-Identifier: Apache-2.0
// 2x2 max pooling of ReLU outputs, with gradient: the device's fused kernel where it has one,
// LibTorch's ops elsewhere.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ubique::kernels {

/// x (B, C, H, W), nowhere negative. Stride 2 halves even extents; stride 1 keeps them, with
/// windows cut at the bottom and right edges.
at::Tensor max_pool(const at::Tensor& x, std::int64_t stride);

}  // namespace ubique::kernels
