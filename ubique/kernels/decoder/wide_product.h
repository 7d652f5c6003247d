// SPDX-License-Identifier: Apache-2.0
// Products of half-precision matrices whose sums stay in f32: gradients of weights, which neither
// lose bits on their way nor take a pass for the conversion. And a linear layer with such
// gradients.
#pragma once

#include <ATen/core/Tensor.h>

#include "ubique/kernels/dispatch/cast_weight.h"

namespace ubique::kernels {

/// True if the device keeps the f32 sums of products of this dtype.
bool does_wide_product(const at::Tensor& like);

/// a·b in `dtype`, for a (n, k) and b (k, m): in f32 without rounding in between where the device
/// can.
at::Tensor product_as(at::ScalarType dtype, const at::Tensor& a, const at::Tensor& b);
/// sum += a·b, for `sum` (n, m) f32 or of the dtype of a and b.
void add_product_(const at::Tensor& sum, const at::Tensor& a, const at::Tensor& b);

/// x·weightᵀ + bias, x (..., in), bias (out) in any dtype or undefined. Gradients of weight and
/// bias are made in their own dtypes.
at::Tensor dense(const at::Tensor& x, const CastWeight& weight, const at::Tensor& bias = {});

}  // namespace ubique::kernels
