// SPDX-License-Identifier: Apache-2.0
// The autograd node of a fused convolution and ReLU, and the frozen convolution.
#include "ubique/kernels/conv/convolve2d.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>

#include <array>

#include "ubique/kernels/conv/convolve_relu.h"
#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/dispatch/fused_conv.h"
#include "ubique/kernels/host/host_packed.h"

namespace ubique::kernels {
namespace {

constexpr auto kLast = at::MemoryFormat::ChannelsLast;

std::array<std::int64_t, 2> both(std::int64_t value) { return {value, value}; }

at::ScalarType compute_dtype(const at::Tensor& x) {
  const auto device = x.device().type();
  const bool narrowed = at::autocast::is_autocast_enabled(device) && x.scalar_type() != at::kDouble;
  return narrowed ? at::autocast::get_autocast_dtype(device) : x.scalar_type();
}

/// Saves the input and the result, which the next layer saves as its input anyway.
class Convolve2dNode final : public torch::autograd::Node {
 public:
  Convolve2dNode(at::Tensor x, at::Tensor weight, at::Tensor y, std::int64_t dilation,
                 at::Tensor stored)
      : x_(std::move(x)),
        weight_(std::move(weight)),
        y_(std::move(y)),
        stored_(std::move(stored)),
        dilation_(dilation) {}
  std::string name() const override { return "Convolve2d"; }
  void release_variables() override {
    for (auto* tensor : {&x_, &weight_, &y_, &stored_}) tensor->reset();
  }

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    if (!gradients.at(0).defined()) return {at::Tensor(), at::Tensor(), at::Tensor()};
    const PlainTensors plain;
    auto [gradient, of_bias] = fused::relu_bias_backward(gradients[0], y_);
    gradients.clear();
    const auto padding = both(dilation_ * (weight_.size(2) / 2));
    auto [of_x, of_weight, none] = at::convolution_backward(
        gradient, x_, weight_, std::nullopt, both(1), padding, both(dilation_), false, both(0), 1,
        {task_should_compute_output(0), true, false});
    auto as_stored = at::empty_like(stored_);  // converts dtype and layout in one pass
    as_stored.copy_(of_weight);
    return {of_x, as_stored, of_bias.to(stored_.scalar_type())};
  }

 private:
  at::Tensor x_, weight_, y_;  // in the compute dtype
  at::Tensor stored_;          // the weights in the optimizer's dtype and layout
  std::int64_t dilation_;
};

/// Convolution and ReLU as one op, whose backward reads the gradient once.
at::Tensor fused_convolve(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                          std::int64_t dilation) {
  const bool records = wants_gradient(x) || wants_gradient(weight) || wants_gradient(bias);
  const auto dtype = compute_dtype(x);  // before autocast is disabled
  at::Tensor y, taken, arranged;
  {
    const PlainTensors plain;
    taken = x.detach().to(dtype).contiguous(kLast);
    arranged = weight.detach().to(dtype, false, false, kLast);
    y = convolve_relu(taken, arranged, bias.detach().to(dtype),
                      both(dilation * (weight.size(2) / 2)), dilation);
  }
  if (records) {
    auto node =
        std::make_shared<Convolve2dNode>(taken, arranged, y.detach(), dilation, weight.detach());
    attach(y, node, {x, weight, bias});
  }
  return y;
}

}  // namespace

at::Tensor convolve2d(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                      std::int64_t dilation, bool relu) {
  if (relu && fused::does_image_ops(x, weight.size(0))) {
    return fused_convolve(x, weight, bias, dilation);
  }
  auto y = at::conv2d(x, weight, bias, 1, dilation * (weight.size(2) / 2), dilation);
  return relu ? y.relu_() : y;
}

FrozenConvolution::FrozenConvolution(const at::Tensor& weight, const at::Tensor& bias,
                                     std::int64_t dilation, at::ScalarType dtype,
                                     at::MemoryFormat format)
    : weight_(weight.detach().to(dtype).contiguous(format)),
      bias_(bias.defined() ? bias.detach().to(dtype) : bias),
      padding_(dilation * (weight.size(2) / 2)),
      dilation_(dilation),
      packs_(packs_on_host(weight_)) {
  if (weight.size(0) == 1 && weight.size(2) == 3 && dilation == 1 && bias.defined()) {
    thin_ = weight.detach()[0].permute({1, 2, 0}).to(at::kFloat).contiguous();  // (3, 3, C)
    thin_bias_ = bias.detach().to(at::kFloat);
  }
}

void FrozenConvolution::pack_for(const at::Tensor& x) {
  if (packed_for_ == x.sizes()) return;
  const auto plain = packed_for_.empty() ? weight_ : weight_.to_dense();
  weight_ = pack_weights(plain, dilation_, x);
  packed_for_ = x.sizes().vec();
}

at::Tensor FrozenConvolution::operator()(const at::Tensor& x, bool relu) {
  const PlainTensors plain;
  if (packs_) {
    pack_for(x);
    return convolve_packed(x, weight_, bias_, padding_, dilation_, relu);
  }
  if (thin_.defined() && !relu && fused::does_convolve_to_one(x)) {
    return fused::convolve_to_one(x, thin_, thin_bias_);
  }
  const auto added = bias_.defined() ? std::optional(bias_) : std::nullopt;
  if (relu) return convolve_relu(x, weight_, added, both(padding_), dilation_);
  return at::conv2d(x, weight_, added, 1, padding_, dilation_);
}

}  // namespace ubique::kernels
