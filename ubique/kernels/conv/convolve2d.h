// SPDX-License-Identifier: Apache-2.0
// 2D convolutions with "same" padding, bias and optional ReLU. In training they follow autocast,
// and on devices with a kernel for it one pass computes the gradients of ReLU and bias. For
// inference the weights can be frozen: converted once to the layout that the device computes with.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace ubique::kernels {

/// x (B, I, H, W), weight (O, I, k, k), bias (O), stride 1, zero padding.
at::Tensor convolve2d(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                      std::int64_t dilation, bool relu);

/// The same for inference, with the weights converted once.
class FrozenConvolution {
 public:
  FrozenConvolution() = default;
  /// Computes in `dtype`; images come in `format`. The bias may be undefined.
  FrozenConvolution(const at::Tensor& weight, const at::Tensor& bias, std::int64_t dilation,
                    at::ScalarType dtype, at::MemoryFormat format);

  bool defined() const { return weight_.defined(); }
  at::Tensor operator()(const at::Tensor& x, bool relu);

 private:
  void pack_for(const at::Tensor& x);

  at::Tensor weight_, bias_;
  std::int64_t padding_ = 0, dilation_ = 1;
  at::Tensor thin_, thin_bias_;           // for a 3x3 convolution to one channel, f32
  bool packs_ = false;                    // weights are packed for oneDNN,
  std::vector<std::int64_t> packed_for_;  // for images of this shape
};

}  // namespace ubique::kernels
