// SPDX-License-Identifier: Apache-2.0
// Ops over pictures (B, C, H, W) for which a device may bring kernels of its own; see fused.h. Two
// questions stand for nearly all of them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>

namespace ubique::kernels::fused {

/// Has the device of x such kernels at all?
bool has_picture_kernels(const at::Tensor& x);
/// Has it kernels for pictures of x's layout, with that many channels?
bool does_pictures(const at::Tensor& x, std::int64_t channels);

/// Twice the height and width: value i goes to 2i, the mean of i and i + 1 to 2i + 1; beyond the
/// lower and right edges is the edge.
at::Tensor upsample_twice(const at::Tensor& x);
at::Tensor upsample_twice_backward(const at::Tensor& gradient);

/// Maxima over 2x2, every place (stride 1; windows end at the edges) or every other one (stride 2,
/// even extents); with `marks` also where each was found: 0 to 3, u8.
std::tuple<at::Tensor, at::Tensor> max_pool(const at::Tensor& x, std::int64_t stride, bool marks);
at::Tensor max_pool_backward(const at::Tensor& gradient, const at::Tensor& where,
                             std::int64_t stride);

/// Gradient of ReLU, whose result was y, and its sum over all but the channels (C), f32.
std::tuple<at::Tensor, at::Tensor> relu_bias_backward(const at::Tensor& gradient,
                                                      const at::Tensor& y);

/// Without gradients. Pictures (B, 3, H, W), u8 or float, less a mean of each channel, channels
/// last.
at::Tensor subtract_means(const at::Tensor& image, at::ArrayRef<double> means,
                          at::ScalarType dtype);
/// Without gradients. A 3x3 convolution to one channel, zeros around; weight (3, 3, C) and bias
/// f32, the result f32.
bool does_convolve_to_one(const at::Tensor& x);
at::Tensor convolve_to_one(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);
/// Without gradients. Each sample shifted and scaled to 0..1: the largest value plus `epsilon`
/// is 1.
at::Tensor stretch(const at::Tensor& map, double epsilon);

}  // namespace ubique::kernels::fused
