// SPDX-License-Identifier: Apache-2.0
// Queries, keys and values as heads of one product. Backward joins their gradients in one pass,
// which also adds up the columns for the bias.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

#include "ubique/kernels/dispatch/cast_weight.h"

namespace ubique::kernels {

/// True if the device has the kernel for queries of this kind (B, heads, T, size).
bool does_join_qkv(const at::Tensor& queries);

/// Heads of queries, keys and values, in this order in the product's columns.
using HeadCounts = std::array<std::int64_t, 3>;

/// The heads (B, count, T, size) of x·weightᵀ + bias, x (B, T, H). `bias` may be undefined.
std::array<at::Tensor, 3> head_product(const at::Tensor& x, const CastWeight& weight,
                                       const at::Tensor& bias, const HeadCounts& counts);

}  // namespace ubique::kernels
