// SPDX-License-Identifier: Apache-2.0
// Attention inputs from one fused QKV projection: split into heads with rotary position embedding,
// or attention computed directly by a fused kernel. Both have their own backward.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace ubique::kernels {

/// Splits `qkv` (B, L, 3·heads·size) into queries, keys and values (B, heads, L, size). May rotate
/// in place, so do not use `qkv` afterwards. `cos` and `sin` are (≥ L, size), f32, with equal
/// halves; undefined = no rotation. Rotation is computed in f32 whatever the dtype.
std::tuple<at::Tensor, at::Tensor, at::Tensor> split_heads(const at::Tensor& qkv,
                                                           std::int64_t heads,
                                                           const at::Tensor& cos,
                                                           const at::Tensor& sin);

/// Attention (B, L, heads·size) of `qkv` as above in one kernel. Undefined if the device has no
/// kernel for such sequences (or none for backward, where gradients are wanted).
at::Tensor fused_qkv_attention(const at::Tensor& qkv, std::int64_t heads, const at::Tensor& cos,
                               const at::Tensor& sin, bool causal);

}  // namespace ubique::kernels
