// SPDX-License-Identifier: Apache-2.0
// Ops of convolutional networks for which a device may provide a fused kernel, registered with
// LibTorch's dispatcher. Each has a query beside it that says whether the device of these tensors
// has the kernel. Where it has not, callers in this room use plain ATen ops, which the tests also
// compare the kernels with. No autograd.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <tuple>

namespace ubique::kernels::fused {

// Volumes (B, C, D, H, W).

/// Batch norm with the batch's own statistics, activation (kernels::Activation as an integer) and
/// channel dropout `scale` (B, C, 1, 1, 1); returns the result, mean and inverse deviation. See
/// norm_act.h.
bool does_norm_act(const at::Tensor& x);
std::tuple<at::Tensor, at::Tensor, at::Tensor> norm_act(const at::Tensor& x,
                                                        const at::Tensor& weight,
                                                        const at::Tensor& bias,
                                                        const std::optional<at::Tensor>& scale,
                                                        std::int64_t activation, double epsilon);
at::Tensor norm_act_recompute(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                              const std::optional<at::Tensor>& scale, const at::Tensor& mean,
                              const at::Tensor& inverse_deviation, std::int64_t activation);
/// Gradients of x (in place of `gradient` if its layout is x's), weight and bias.
std::tuple<at::Tensor, at::Tensor, at::Tensor> norm_act_backward(
    const at::Tensor& gradient, const at::Tensor& x, const at::Tensor& weight,
    const at::Tensor& bias, const std::optional<at::Tensor>& scale, const at::Tensor& mean,
    const at::Tensor& inverse_deviation, std::int64_t activation);

/// A dilated convolution that keeps the size, with optional bias and ReLU; see convolve.h.
bool does_convolve(const at::Tensor& x, const at::Tensor& weight, std::int64_t dilation);
at::Tensor convolve(const at::Tensor& x, const at::Tensor& weight,
                    const std::optional<at::Tensor>& bias, std::int64_t dilation, bool relu);

/// Weight gradient (O, I, 3, 3, 3), f32, of a dilated convolution.
bool does_weight_gradient(const at::Tensor& gradient, const at::Tensor& x, std::int64_t kernel,
                          std::int64_t dilation);
at::Tensor weight_gradient(const at::Tensor& gradient, const at::Tensor& x, std::int64_t dilation);

// Images (B, C, H, W). Two queries cover all of these ops but convolve_to_one.

/// True if the device of x has any of these kernels.
bool has_image_kernels(const at::Tensor& x);
/// True if it has kernels for images of x's dtype and layout with `channels` channels.
bool does_image_ops(const at::Tensor& x, std::int64_t channels);

/// Doubles height and width: value i goes to 2i, the mean of i and i + 1 to 2i + 1; the last row
/// and column repeat.
at::Tensor upsample_twice(const at::Tensor& x);
at::Tensor upsample_twice_backward(const at::Tensor& gradient);

/// 2x2 max pooling with stride 1 (windows are cut at the edges) or stride 2 (even extents); with
/// `marks` also the position of each maximum in its window: 0 to 3, u8.
std::tuple<at::Tensor, at::Tensor> max_pool(const at::Tensor& x, std::int64_t stride, bool marks);
at::Tensor max_pool_backward(const at::Tensor& gradient, const at::Tensor& where,
                             std::int64_t stride);

/// Gradient of ReLU whose result was y, and the bias gradient: its sum per channel (C), f32.
std::tuple<at::Tensor, at::Tensor> relu_bias_backward(const at::Tensor& gradient,
                                                      const at::Tensor& y);

/// Images (B, 3, H, W), u8 or float, minus the mean of each channel; channels last.
at::Tensor subtract_means(const at::Tensor& image, at::ArrayRef<double> means,
                          at::ScalarType dtype);
/// A 3x3 convolution to one channel with zero padding; weight (3, 3, C), bias and result are f32.
bool does_convolve_to_one(const at::Tensor& x);
at::Tensor convolve_to_one(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);
/// Scales each sample to 0..1: (map - min) / (max - min + epsilon).
at::Tensor stretch(const at::Tensor& map, double epsilon);

}  // namespace ubique::kernels::fused
