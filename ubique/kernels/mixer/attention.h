// SPDX-License-Identifier: Apache-2.0
// Attention of queries to keys and values that are split already, with a backward of its own where
// the device has one for long sequences.
#pragma once

#include <ATen/core/Tensor.h>

namespace ubique::kernels {

/// (B, L, heads·size) of three (B, heads, L, size); `causal`: places see what is before them.
at::Tensor mix_heads(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                     bool causal);

}  // namespace ubique::kernels
