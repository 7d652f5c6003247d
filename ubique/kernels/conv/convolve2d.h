// SPDX-License-Identifier: Apache-2.0
// Convolutions over pictures that keep their size, with a bias and ReLU if wanted. With gradients
// they follow autocast, and where the device has kernels for it ReLU's gradient and the bias's come
// from one pass. Without, the weights may be frozen: put once into the form that the device likes.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace ubique::kernels {

/// x (B, I, H, W), weight (O, I, k, k), bias (O), stride 1, zeros around the picture.
at::Tensor convolve2d(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                      std::int64_t dilation, bool relu);

/// The same without gradients, its weights arranged once.
class FrozenConvolution {
 public:
  FrozenConvolution() = default;
  /// Computes in `dtype`; pictures come in `format`. The bias may be undefined.
  FrozenConvolution(const at::Tensor& weight, const at::Tensor& bias, std::int64_t dilation,
                    at::ScalarType dtype, at::MemoryFormat format);

  bool defined() const { return weight_.defined(); }
  at::Tensor operator()(const at::Tensor& x, bool relu);

 private:
  void pack_for(const at::Tensor& x);

  at::Tensor weight_, bias_;
  std::int64_t padding_ = 0, dilation_ = 1;
  at::Tensor thin_, thin_bias_;           // of a 3x3 convolution to one channel, f32
  bool packs_ = false;                    // the weights are packed at the first picture,
  std::vector<std::int64_t> packed_for_;  // for pictures of these sizes
};

}  // namespace ubique::kernels
