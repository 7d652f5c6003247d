// SPDX-License-Identifier: Apache-2.0
// Queries, keys and values of linear attention from their projections: split into heads, rotated
// in pairs of neighbours, cut at zero, in one pass over memory where the device has a kernel.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ubique::kernels {

struct PairRotation {
  at::Tensor cos = {}, sin = {};  ///< (T, size) f32; undefined = no rotation
  std::int64_t heads = 1;
  bool relu = false;
  std::int64_t ones = 0;  ///< columns of 1 behind each row, so that a product sums too
};

/// True if the device has the kernel for x (B, T, heads·size) and results of `dtype`, which is that
/// of x or f32.
bool does_rotate_pairs(const at::Tensor& x, const PairRotation& rotation, at::ScalarType dtype);

/// x (B, T, heads·size) to (B, heads, T, size + ones) in `dtype`, contiguous; value 2i turns with
/// 2i + 1, each by the angle of its own column, in f32. In plain ops where there is no kernel. No
/// autograd.
at::Tensor rotate_pairs(const at::Tensor& x, const PairRotation& rotation, at::ScalarType dtype);

}  // namespace ubique::kernels
