// SPDX-License-Identifier: Apache-2.0
// A 3D convolution with stride 1 and zero padding that keeps the size, forward and backward, as
// plain functions on tensors of any device and layout. No autograd: who calls decides what is kept.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "ubique/kernels/conv/activation.h"

namespace ubique::kernels {

/// x (B, I, D, H, W), weight (O, I, k, k, k) with odd k; bias (O) may be undefined.
at::Tensor convolve(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                    std::int64_t dilation);

/// What lies in front of the first plane and behind the last: zeros, or nothing, so that the result
/// has dilation * (k - 1) planes less.
enum class DepthEdges { Zeros, Cut };

/// The same, then the activation in place of the result. Inference only.
at::Tensor convolve_activate(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                             std::int64_t dilation, Activation activation,
                             DepthEdges edges = DepthEdges::Zeros);

struct ConvolveWants {
  bool input = true, bias = false;  ///< the weight's gradient is always wanted
};

struct ConvolveGradients {
  at::Tensor input, weight, bias;  ///< undefined where not wanted
};

ConvolveGradients convolve_backward(const at::Tensor& gradient, const at::Tensor& x,
                                    const at::Tensor& weight, std::int64_t dilation,
                                    ConvolveWants wants);

/// x in that layout, with strides that say so: one channel alone fits both layouts, and is then
/// taken for contiguous, as is everything that follows.
at::Tensor in_layout(const at::Tensor& x, at::MemoryFormat layout);

/// In place where the activation can be; x is not to be used afterwards.
at::Tensor activate(at::Tensor x, Activation activation);

}  // namespace ubique::kernels
