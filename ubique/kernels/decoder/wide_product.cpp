// SPDX-License-Identifier: Apache-2.0
// The ops that a device may provide, their comparison with plain ops, and the node of dense().
#include "ubique/kernels/decoder/wide_product.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include <memory>
#include <utility>

#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/dispatch/find_op.h"
#include "ubique/kernels/dispatch/self_check.h"

namespace ubique::kernels {
namespace {

bool no_wide_product(const at::Tensor& /*like*/) { return false; }

bool has_wide_product(const at::Tensor& like) {
  static const auto op = find_op<decltype(has_wide_product)>("ubique::does_wide_product");
  return op.call(like);
}

at::Tensor wide_product(const at::Tensor& a, const at::Tensor& b) {
  static const auto op = find_op<decltype(wide_product)>("ubique::wide_product");
  return op.call(a, b);
}

void add_wide_product_(const at::Tensor& sum, const at::Tensor& a, const at::Tensor& b) {
  static const auto op = find_op<decltype(add_wide_product_)>("ubique::add_wide_product_");
  op.call(sum, a, b);
}

std::vector<Trial> try_products(const at::Tensor& like) {
  const PlainTensors plain;
  // Transposed, as weights' gradients are.
  const auto a = test_values({64, 24}, like, 1), b = test_values({64, 40}, like, 2);
  const auto start = test_values({24, 40}, like, 3).to(at::kFloat);
  const auto product = at::mm(a.to(at::kFloat).t(), b.to(at::kFloat));
  const auto sum = start.clone();
  add_wide_product_(sum, a.t(), b);
  return trials_of({wide_product(a.t(), b), sum}, {product, start + product});
}

class Dense final : public torch::autograd::Node {
 public:
  Dense(at::Tensor x, CastWeight weight, at::ScalarType bias)
      : x_(std::move(x)), weight_(std::move(weight)), bias_(bias) {}
  std::string name() const override { return "ubique::Dense"; }
  void release_variables() override { x_ = at::Tensor(); }

 private:
  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const PlainTensors plain;
    if (!gradients[0].defined()) return {{}, {}, {}};
    const auto incoming = gradients[0].flatten(0, -2);  // (n, out)
    at::Tensor of_x, of_weight, of_bias;
    if (task_should_compute_output(0)) of_x = at::mm(incoming, weight_.value).view(x_.sizes());
    if (task_should_compute_output(1)) {
      of_weight = product_as(weight_.parameter.scalar_type(), incoming.t(), x_.flatten(0, -2));
    }
    if (task_should_compute_output(2)) of_bias = incoming.sum(0, false, bias_);
    return {of_x, of_weight, of_bias};
  }

  at::Tensor x_;
  CastWeight weight_;
  at::ScalarType bias_;
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
  library.def("does_wide_product(Tensor like) -> bool");
  library.def("wide_product(Tensor a, Tensor b) -> Tensor");
  library.def("add_wide_product_(Tensor(a!) sum, Tensor a, Tensor b) -> ()");
  library.impl("does_wide_product", c10::DispatchKey::CompositeExplicitAutograd,
               TORCH_FN(no_wide_product));
}

bool does_wide_product(const at::Tensor& like) {
  return has_wide_product(like) &&
         passes_self_check("products with f32 sums", like, [&] { return try_products(like); });
}

at::Tensor product_as(at::ScalarType dtype, const at::Tensor& a, const at::Tensor& b) {
  if (dtype == at::kFloat && dtype != a.scalar_type() && does_wide_product(a)) {
    return wide_product(a, b);
  }
  return at::mm(a, b).to(dtype);
}

void add_product_(const at::Tensor& sum, const at::Tensor& a, const at::Tensor& b) {
  if (sum.scalar_type() == a.scalar_type()) {
    sum.addmm_(a, b);
  } else if (does_wide_product(a)) {
    add_wide_product_(sum, a, b);
  } else {
    sum.add_(at::mm(a, b));
  }
}

at::Tensor dense(const at::Tensor& x, const CastWeight& weight, const at::Tensor& bias) {
  at::Tensor result;
  {
    const PlainTensors plain;
    const auto narrow = bias.defined() ? bias.detach().to(x.scalar_type()) : bias;
    result = at::linear(x.detach(), weight.value, narrow);
  }
  if (wants_gradient(x) || weight.wants_gradient() || wants_gradient(bias)) {
    const auto dtype = bias.defined() ? bias.scalar_type() : at::kFloat;
    attach(result, std::make_shared<Dense>(x.detach(), weight, dtype), {x, weight.parameter, bias});
  }
  return result;
}

}  // namespace ubique::kernels
