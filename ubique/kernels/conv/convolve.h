// SPDX-License-Identifier: Apache-2.0
// A 3D convolution with stride 1 and "same" zero padding, forward and backward, as plain functions
// on tensors of any device and layout. No autograd: the caller decides what is saved for backward.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "ubique/kernels/conv/activation.h"

namespace ubique::kernels {

/// x (B, I, D, H, W), weight (O, I, k, k, k) with odd k; bias (O) may be undefined.
at::Tensor convolve(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                    std::int64_t dilation);

/// Padding in depth: zeros, or none, in which case the result has dilation * (k - 1) fewer planes.
enum class DepthEdges { Zeros, Cut };

/// The same, followed by the activation. Inference only.
at::Tensor convolve_activate(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                             std::int64_t dilation, Activation activation,
                             DepthEdges edges = DepthEdges::Zeros);

struct ConvolveWants {
  bool input = true, bias = false;  ///< the weight's gradient is always computed
};

struct ConvolveGradients {
  at::Tensor input, weight, bias;  ///< undefined where not wanted
};

ConvolveGradients convolve_backward(const at::Tensor& gradient, const at::Tensor& x,
                                    const at::Tensor& weight, std::int64_t dilation,
                                    ConvolveWants wants);

/// x in `layout`. One channel fits both layouts and would count as contiguous, as would every
/// result computed from it; its strides are set to those of `layout`.
at::Tensor in_layout(const at::Tensor& x, at::MemoryFormat layout);

/// May work in place: do not use x afterwards.
at::Tensor activate(at::Tensor x, Activation activation);

}  // namespace ubique::kernels
