// SPDX-License-Identifier: Apache-2.0
// The autograd node of linear_and_residual.
#include "ubique/kernels/mixer/residual_linear.h"

#include <ATen/ATen.h>

#include <memory>
#include <utility>
#include <vector>

#include "ubique/kernels/dispatch/autograd.h"

namespace ubique::kernels {
namespace {

class LinearAndResidual final : public torch::autograd::Node {
 public:
  LinearAndResidual(at::Tensor x, CastWeight weight)
      : x_(std::move(x)), weight_(std::move(weight)) {}
  std::string name() const override { return "ubique::LinearAndResidual"; }
  void release_variables() override { x_ = at::Tensor(); }

 private:
  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const PlainTensors plain;
    auto of_x = std::move(gradients[1]);
    if (!gradients[0].defined()) return {of_x, at::Tensor()};
    const auto of_product = gradients[0].flatten(0, 1);  // (B·L, N)
    at::Tensor of_weight;
    if (task_should_compute_output(1)) {
      of_weight = at::mm(of_product.t(), x_.flatten(0, 1)).to(weight_.parameter.scalar_type());
    }
    if (task_should_compute_output(0)) of_x = add_product(std::move(of_x), of_product);
    return {of_x, of_weight};
  }

  /// of_sum + of_product·W; in place if nothing else holds the residual's gradient.
  at::Tensor add_product(at::Tensor of_sum, const at::Tensor& of_product) const {
    if (!of_sum.defined()) return at::mm(of_product, weight_.value).view(x_.sizes());
    const bool ours = of_sum.use_count() == 1 && of_sum.storage().use_count() == 1;
    if (!ours || !of_sum.is_contiguous()) of_sum = of_sum.clone(at::MemoryFormat::Contiguous);
    of_sum.view({-1, of_sum.size(2)}).addmm_(of_product, weight_.value);
    return of_sum;
  }

  at::Tensor x_;
  CastWeight weight_;
};

}  // namespace

std::tuple<at::Tensor, at::Tensor> linear_and_residual(const at::Tensor& x,
                                                       const CastWeight& weight) {
  std::vector<at::Tensor> results;
  {
    const PlainTensors plain;
    results = {at::linear(x.detach(), weight.value), x.detach()};
  }
  if (wants_gradient(x) || weight.wants_gradient()) {
    attach(results, std::make_shared<LinearAndResidual>(x.detach().contiguous(), weight),
           {x, weight.parameter});
  }
  return {results[0], results[1]};
}

}  // namespace ubique::kernels
