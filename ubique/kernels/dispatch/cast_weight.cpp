// SPDX-License-Identifier: Apache-2.0
// CastWeight and the autograd node that casts its gradients back.
#include "ubique/kernels/dispatch/cast_weight.h"

#include <ATen/ATen.h>

#include "ubique/kernels/dispatch/autograd.h"

namespace ubique::kernels {
namespace {

class WidenGradient final : public torch::autograd::Node {
 public:
  explicit WidenGradient(at::ScalarType dtype) : dtype_(dtype) {}
  std::string name() const override { return "ubique::WidenGradient"; }

 private:
  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    if (!gradients[0].defined()) return {at::Tensor()};
    return {gradients[0].to(dtype_)};
  }
  at::ScalarType dtype_;
};

}  // namespace

CastWeight::CastWeight(const at::Tensor& weight, at::ScalarType dtype)
    : parameter(weight), value(weight.detach().to(dtype)) {}

bool CastWeight::wants_gradient() const { return kernels::wants_gradient(parameter); }

at::Tensor CastWeight::use() const {
  if (!wants_gradient()) return value;
  if (value.scalar_type() == parameter.scalar_type()) return parameter;
  auto used = value.detach();
  attach(used, std::make_shared<WidenGradient>(parameter.scalar_type()), {parameter});
  return used;
}

}  // namespace ubique::kernels
