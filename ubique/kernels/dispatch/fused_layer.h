// SPDX-License-Identifier: Apache-2.0
// Ops for which a device may bring a kernel of its own, through LibTorch's dispatcher. Each has a
// question beside it: does this device do it, for these tensors? Where the answer is no, callers in
// this room do the same with plain ATen, which is also what tests hold the kernels against.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <tuple>

namespace ubique::kernels::fused {

/// Batch norm with the batch's own statistics, activation (as an integer, kernels::Activation) and
/// channel dropout `scale` (B, C, 1, 1, 1); see norm_act.h.
bool does_norm_act(const at::Tensor& x);
std::tuple<at::Tensor, at::Tensor, at::Tensor> norm_act(const at::Tensor& x,
                                                        const at::Tensor& weight,
                                                        const at::Tensor& bias,
                                                        const std::optional<at::Tensor>& scale,
                                                        std::int64_t activation, double epsilon);
at::Tensor norm_act_again(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                          const std::optional<at::Tensor>& scale, const at::Tensor& mean,
                          const at::Tensor& inverse_deviation, std::int64_t activation);
/// Gradients of x (in place of `gradient`, where its layout is x's), weight and bias.
std::tuple<at::Tensor, at::Tensor, at::Tensor> norm_act_backward(
    const at::Tensor& gradient, const at::Tensor& x, const at::Tensor& weight,
    const at::Tensor& bias, const std::optional<at::Tensor>& scale, const at::Tensor& mean,
    const at::Tensor& inverse_deviation, std::int64_t activation);

/// A dilated convolution that keeps the size, with bias and ReLU where wanted; see convolve.h.
bool does_convolve(const at::Tensor& x, const at::Tensor& weight, std::int64_t dilation);
at::Tensor convolve(const at::Tensor& x, const at::Tensor& weight,
                    const std::optional<at::Tensor>& bias, std::int64_t dilation, bool relu);

/// Gradient (O, I, 3, 3, 3), f32, of the weights of a dilated convolution.
bool does_weight_gradient(const at::Tensor& gradient, const at::Tensor& x, std::int64_t kernel,
                          std::int64_t dilation);
at::Tensor weight_gradient(const at::Tensor& gradient, const at::Tensor& x, std::int64_t dilation);

}  // namespace ubique::kernels::fused
