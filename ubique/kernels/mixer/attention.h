// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention of separate queries, keys and values. Training uses the device's
// flash kernels for long sequences where it has them.
#pragma once

#include <ATen/core/Tensor.h>

namespace ubique::kernels {

/// Inputs (B, heads, L, size), result (B, L, heads·size). `causal`: a position attends to itself
/// and earlier ones.
at::Tensor attention(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                     bool causal);

}  // namespace ubique::kernels
