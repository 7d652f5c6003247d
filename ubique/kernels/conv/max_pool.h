// SPDX-License-Identifier: Apache-2.0
// Maxima over 2x2 of pictures that have come through a ReLU, with a gradient; the device's own
// kernel where it has one, torch's ops elsewhere.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ubique::kernels {

/// x (B, C, H, W), nowhere negative. Stride 2 halves even extents; stride 1 keeps them, and windows
/// reach beyond the lower and right edges, where nothing is.
at::Tensor max_pool(const at::Tensor& x, std::int64_t stride);

}  // namespace ubique::kernels
