// SPDX-License-Identifier: Apache-2.0
// RMS norm and layer norm along the last dimension, computed in f32 whatever the dtype of the input
// (f64 for f64).
#pragma once

#include <ATen/core/Tensor.h>

#include "ubique/kernels/decoder/add_norm.h"

namespace ubique::nn {

/// x / √(mean(x²) + eps) · weight; x (..., H), weight (H), undefined = 1. Returns the dtype of x.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);

/// (x - mean) / √(variance + eps) · weight + bias, with the biased variance; x (..., H), weight and
/// bias (H), undefined = 1 and 0. Returns the dtype of x.
at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                      double eps);

/// The dtype that products of x are computed in: autocast's, else its own.
at::ScalarType product_dtype(const at::Tensor& x);

/// residual + branch, and its norm in product_dtype(): both (..., H). `branch` may be undefined.
/// One kernel where the device has it.
struct Normed {
  at::Tensor sum, normed;
};
Normed add_norm(const at::Tensor& residual, const kernels::Branch& branch, const at::Tensor& weight,
                const at::Tensor& bias, const kernels::NormOptions& options);

/// residual + branch + its bias.
at::Tensor added(const at::Tensor& residual, const kernels::Branch& branch);

}  // namespace ubique::nn
