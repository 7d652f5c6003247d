// SPDX-License-Identifier: Apache-2.0
// Ops of gated and normed layers, without autograd, for which a device may bring kernels of its
// own; elsewhere the same is done with plain ATen, which is also what tests hold the kernels
// against.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>

namespace ubique::kernels::fused {

/// silu(gate) · up, where x (R, 2, N) has the gates before the values that they let through.
at::Tensor swiglu(const at::Tensor& x);  // (R, N)
/// Gradients of x (R, 2, N), and the forward result (R, N) again.
std::tuple<at::Tensor, at::Tensor> swiglu_backward(const at::Tensor& gradient, const at::Tensor& x);

/// u / root-mean-square(u) along `dim` (1 or 2) of u = x + branch (A, B, C), worked out in f32 (f64
/// for f64); with the inverse of that root, f32, (A, B) or (A, C).
std::tuple<at::Tensor, at::Tensor> post_norm(const at::Tensor& x, const at::Tensor& branch,
                                             std::int64_t dim, double epsilon);
/// Gradient of u, from post_norm's two results.
at::Tensor post_norm_backward(const at::Tensor& gradient, const at::Tensor& y,
                              const at::Tensor& inverse, std::int64_t dim);

}  // namespace ubique::kernels::fused
