// SPDX-License-Identifier: Apache-2.0
// f32 convolutions of whole volumes on the CPU with the kernels of host_planes.h, for training:
// forward and the weight gradient (the input's gradient is a convolution with flipped weights).
// Their extra memory is a few planes.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ubique::kernels {

inline constexpr std::int64_t kMaxHostChannels = 128;  ///< with more, oneDNN is as fast

/// True for f32 on the CPU with a supported kernel size and at most kMaxHostChannels channels.
bool suits_host_convolve(const at::Tensor& x, const at::Tensor& weight);

/// Extra memory in floats; `channels` is the larger of input and output channels.
std::int64_t host_convolve_floats(std::int64_t channels, std::int64_t kernel, std::int64_t dilation,
                                  std::int64_t depth, std::int64_t height, std::int64_t width);

/// (B, O, D, H, W), contiguous. x may have any strides.
at::Tensor host_convolve(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                         std::int64_t dilation);

/// Shaped like the weight.
at::Tensor host_weight_gradient(const at::Tensor& gradient, const at::Tensor& x,
                                const at::Tensor& weight, std::int64_t dilation);

/// The weight of the convolution that maps the output's gradient to the input's.
at::Tensor flipped_weight(const at::Tensor& weight);

}  // namespace ubique::kernels
