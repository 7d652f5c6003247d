// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: tables of cosines and sines, and the rotation itself.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace ubique::nn {

constexpr double kRopeTheta = 10000;

/// cos and sin of positions 0..length-1: (L, head size), f32, the second half of a row repeating
/// the first. Computed on the host, so that every device has the same bits.
std::tuple<at::Tensor, at::Tensor> rope_tables(std::int64_t length, std::int64_t head_size,
                                               c10::Device device, double theta = kRopeTheta);

/// Rotates x (B, heads, L, size) by tables (L, size); in f32 whatever the dtype of x.
at::Tensor apply_rope(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin);

}  // namespace ubique::nn
