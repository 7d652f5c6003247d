// SPDX-License-Identifier: Apache-2.0
// From one product of queries, keys and values to the three as attention takes them, rotated by
// their places where wanted, or to attention's result; ops with a backward of their own.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace ubique::kernels {

/// `qkv` (B, L, 3·heads·size), given up here: its memory may become the result's. Cosines and sines
/// are (≥ L, size), f32, halves alike; undefined = nothing is rotated. Results: (B, heads, L,
/// size). Rotated in f32 whatever the dtype.
std::tuple<at::Tensor, at::Tensor, at::Tensor> split_heads(const at::Tensor& qkv,
                                                           std::int64_t heads,
                                                           const at::Tensor& cos,
                                                           const at::Tensor& sin);

/// Attention over all of it for a device that has a kernel of its own for such sequences, and one
/// for backward where gradients are wanted: (B, L, heads·size) of `qkv` as above. Undefined where
/// there is none.
at::Tensor attend(const at::Tensor& qkv, std::int64_t heads, const at::Tensor& cos,
                  const at::Tensor& sin, bool causal);

}  // namespace ubique::kernels
