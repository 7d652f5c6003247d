// SPDX-License-Identifier: Apache-2.0
// Chooses the host kernel, the device's fused kernel or LibTorch's convolution.
#include "ubique/kernels/conv/convolve.h"

#include <ATen/ATen.h>

#include <array>

#include "ubique/kernels/conv/convolve_relu.h"
#include "ubique/kernels/dispatch/fused_conv.h"
#include "ubique/kernels/host/host_convolve.h"

namespace ubique::kernels {
namespace {

std::array<std::int64_t, 3> three(std::int64_t value) { return {value, value, value}; }

std::int64_t same_padding(const at::Tensor& weight, std::int64_t dilation) {
  return dilation * (weight.size(2) / 2);
}

std::optional<at::Tensor> given(const at::Tensor& bias) {
  return bias.defined() ? std::optional(bias) : std::nullopt;
}

at::Tensor forward(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                   std::int64_t dilation, DepthEdges edges) {
  if (edges == DepthEdges::Zeros && suits_host_convolve(x, weight)) {
    return host_convolve(x, weight, bias, dilation);
  }
  if (edges == DepthEdges::Zeros && fused::does_convolve(x, weight, dilation)) {
    return fused::convolve(x, weight, given(bias), dilation, false);
  }
  // Vendor kernels for dilated half-precision convolutions are several times slower with a bias.
  const bool apart = bias.defined() && at::isReducedFloatingType(x.scalar_type());
  const auto inside = apart ? std::nullopt : given(bias);
  auto padding = three(same_padding(weight, dilation));
  if (edges == DepthEdges::Cut) padding[0] = 0;
  auto y =
      at::convolution(x, weight, inside, three(1), padding, three(dilation), false, three(0), 1);
  if (apart) y.add_(bias.view({1, -1, 1, 1, 1}));
  return y;  // (B, O, D, H, W)
}

}  // namespace

at::Tensor convolve(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                    std::int64_t dilation) {
  return forward(x, weight, bias, dilation, DepthEdges::Zeros);
}

at::Tensor convolve_activate(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                             std::int64_t dilation, Activation activation, DepthEdges edges) {
  const bool on_host = edges == DepthEdges::Zeros && suits_host_convolve(x, weight);
  if (activation == Activation::Relu && !on_host) {
    if (edges == DepthEdges::Zeros && fused::does_convolve(x, weight, dilation)) {
      return fused::convolve(x, weight, given(bias), dilation, true);
    }
    auto padding = three(same_padding(weight, dilation));
    if (edges == DepthEdges::Cut) padding[0] = 0;
    return convolve_relu(x, weight, given(bias), padding, dilation);
  }
  return activate(forward(x, weight, bias, dilation, edges), activation);
}

ConvolveGradients convolve_backward(const at::Tensor& gradient, const at::Tensor& x,
                                    const at::Tensor& weight, std::int64_t dilation,
                                    ConvolveWants wants) {
  if (suits_host_convolve(x, weight)) {
    return {
        wants.input ? host_convolve(gradient, flipped_weight(weight), {}, dilation) : at::Tensor(),
        host_weight_gradient(gradient, x, weight, dilation),
        wants.bias ? gradient.sum({0, 2, 3, 4}) : at::Tensor()};
  }
  if (fused::does_weight_gradient(gradient, x, weight.size(2), dilation)) {
    // The input's gradient is a convolution too, and the forward kernels are the faster ones.
    return {wants.input ? convolve(gradient, flipped_weight(weight), {}, dilation) : at::Tensor(),
            fused::weight_gradient(gradient, x, dilation),
            wants.bias ? gradient.sum({0, 2, 3, 4}) : at::Tensor()};
  }
  const auto padding = same_padding(weight, dilation);
  auto [input, of_weight, of_bias] =
      at::convolution_backward(gradient, x, weight, std::nullopt, three(1), three(padding),
                               three(dilation), false, three(0), 1, {wants.input, true, false});
  if (wants.bias) of_bias = gradient.sum({0, 2, 3, 4});
  return {input, of_weight, of_bias};
}

at::Tensor in_layout(const at::Tensor& x, at::MemoryFormat layout) {
  const auto dense = x.contiguous(layout);
  if (layout != at::MemoryFormat::ChannelsLast3d || x.dim() != 5 || x.size(1) != 1) return dense;
  const auto width = x.size(4), plane = x.size(3) * width, volume = x.size(2) * plane;
  return dense.as_strided(x.sizes(), {volume, 1, plane, width, 1});
}

at::Tensor activate(at::Tensor x, Activation activation) {
  switch (activation) {
    case Activation::None:
      return x;
    case Activation::Relu:
      return at::relu_(x);
    case Activation::Elu:
      return at::elu_(x);
    case Activation::Gelu:
      return at::gelu_(x);
    case Activation::GeluTanh:
      return at::gelu_(x, "tanh");
  }
  return x;
}

}  // namespace ubique::kernels
