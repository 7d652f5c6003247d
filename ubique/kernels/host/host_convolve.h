// SPDX-License-Identifier: Apache-2.0
// Whole volumes on the host in f32 by the kernels of host_planes.h, for training: forward, and the
// gradient of the weights. (That of the input is a convolution with the weights turned around.)
// Beside input and result they take the memory of a few planes.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ubique::kernels {

inline constexpr std::int64_t kMostHostChannels = 128;  ///< beyond, oneDNN's blocks are full anyway

/// f32 on the host, with a kernel and a number of channels that these are good at.
bool suits_host_convolve(const at::Tensor& x, const at::Tensor& weight);

/// Floats that they take beside input and result, for the wider of the two.
std::int64_t host_convolve_floats(std::int64_t channels, std::int64_t kernel, std::int64_t dilation,
                                  std::int64_t depth, std::int64_t height, std::int64_t width);

/// (B, O, D, H, W), contiguous. x may have any strides.
at::Tensor host_convolve(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                         std::int64_t dilation);

/// Shaped like the weight.
at::Tensor host_weight_gradient(const at::Tensor& gradient, const at::Tensor& x,
                                const at::Tensor& weight, std::int64_t dilation);

/// The weight of the convolution that takes a result's gradient to its input's.
at::Tensor turned_around(const at::Tensor& weight);

}  // namespace ubique::kernels
