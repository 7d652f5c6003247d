// SPDX-License-Identifier: Apache-2.0
// The step between two sub-layers of a pre-normed transformer: the branch is added to the residual
// stream and the sum is normed for the next branch. Where the device has a kernel it is one pass
// over memory each way; the gradients of sum and norm meet there.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace ubique::kernels {

struct NormOptions {
  bool center = true;  ///< layer norm; false = RMS norm
  double epsilon = 1e-5;
};

/// True if the device has the kernel for a residual stream of this kind and results of `dtype`.
bool does_add_norm(const at::Tensor& residual, at::ScalarType dtype);

/// A branch of the residual stream, and what its last layer's bias has still to add; both may be
/// undefined.
struct Branch {
  at::Tensor value;      ///< (..., H)
  at::Tensor bias = {};  ///< (H); only with `value`
};

/// residual + branch + its bias, and the sum's norm in `dtype`: both (..., H). `bias` may be
/// undefined. Sums are in f32. Only after does_add_norm().
std::tuple<at::Tensor, at::Tensor> add_norm(const at::Tensor& residual, const Branch& branch,
                                            const at::Tensor& weight, const at::Tensor& bias,
                                            at::ScalarType dtype, const NormOptions& options);

}  // namespace ubique::kernels
