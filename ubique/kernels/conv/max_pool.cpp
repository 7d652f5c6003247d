// SPDX-License-Identifier: Apache-2.0
// Max pooling and its autograd node.
#include "ubique/kernels/conv/max_pool.h"

#include <ATen/ATen.h>

#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/dispatch/fused_conv.h"

namespace ubique::kernels {
namespace {

class MaxPoolNode final : public torch::autograd::Node {
 public:
  MaxPoolNode(at::Tensor where, std::int64_t stride) : where_(std::move(where)), stride_(stride) {}
  std::string name() const override { return "MaxPool"; }
  void release_variables() override { where_.reset(); }

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    if (!gradients.at(0).defined()) return {at::Tensor()};
    const PlainTensors plain;
    return {fused::max_pool_backward(gradients[0], where_, stride_)};
  }

 private:
  at::Tensor where_;  // (B, C, H, W), u8
  std::int64_t stride_;
};

/// Zero padding is neutral, since no value is negative.
at::Tensor plain_max_pool(const at::Tensor& x, std::int64_t stride) {
  if (stride == 2) return at::max_pool2d(x, 2, 2);
  return at::max_pool2d(at::constant_pad_nd(x, {0, 1, 0, 1}), 2, 1);
}

}  // namespace

at::Tensor max_pool(const at::Tensor& x, std::int64_t stride) {
  if (!fused::does_image_ops(x, x.size(1))) return plain_max_pool(x, stride);
  const bool records = wants_gradient(x);
  at::Tensor y, where;
  {
    const PlainTensors plain;
    std::tie(y, where) = fused::max_pool(x, stride, records);
  }
  if (records) attach(y, std::make_shared<MaxPoolNode>(where, stride), {x});
  return y;
}

}  // namespace ubique::kernels
