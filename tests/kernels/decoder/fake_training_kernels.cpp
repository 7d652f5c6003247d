// SPDX-License-Identifier: Apache-2.0
// Fake CPU kernels of a training step.
#include "tests/kernels/decoder/fake_training_kernels.h"

#include <ATen/ATen.h>
#include <torch/library.h>

namespace ubique::test {
namespace {

using Optional = std::optional<at::Tensor>;

bool training_present = false, norms_present = false;  // in other tests the CPU has none
FakeTrainingKernels::Calls made;

bool fake_does_norm(const at::Tensor&, at::ScalarType) { return norms_present; }
std::tuple<at::Tensor, at::Tensor, at::Tensor> fake_norm(const at::Tensor& residual,
                                                         const Optional& branch,
                                                         const Optional& branch_bias,
                                                         const at::Tensor& weight,
                                                         const Optional& bias, at::ScalarType dtype,
                                                         bool center, double epsilon) {
  ++made.norms;
  auto sum = branch ? residual + *branch : residual.detach();
  if (branch_bias) sum = sum + *branch_bias;
  const auto mean = center ? sum.mean(-1, true) : at::zeros_like(sum.narrow(-1, 0, 1));
  const auto inverse = ((sum - mean).square().mean(-1, true) + epsilon).rsqrt();
  auto normed = (sum - mean) * inverse * weight;
  if (bias) normed = normed + *bias;
  return {sum, normed.to(dtype), at::cat({mean, inverse}, -1).view({-1, 2})};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> fake_norm_backward(
    const Optional& of_sum, const at::Tensor& of_norm, const at::Tensor& sum,
    const at::Tensor& weight, const at::Tensor& statistics, bool center, bool added, bool weighs,
    bool offset) {
  const auto rows = sum.flatten(0, -2), incoming = of_norm.flatten(0, -2).to(at::kFloat);
  const auto inverse = statistics.narrow(1, 1, 1);
  const auto x = (rows - statistics.narrow(1, 0, 1)) * inverse;
  const auto g = incoming * weight;
  auto result = g - x * (g * x).mean(-1, true);
  if (center) result = result - g.mean(-1, true);
  result = (result * inverse).view(sum.sizes());
  if (of_sum) result = result + *of_sum;
  return {result, added ? result.to(of_norm.scalar_type()) : at::Tensor(),
          weighs ? (incoming * x).sum(0) : at::Tensor(), weighs ? incoming.sum(0) : at::Tensor(),
          offset ? result.flatten(0, -2).sum(0) : at::Tensor()};
}

bool fake_does_training(const at::Tensor& x) {
  return training_present && x.scalar_type() != at::kDouble;
}

at::Tensor fake_wide_product(const at::Tensor& a, const at::Tensor& b) {
  ++made.products;
  return at::mm(a.to(at::kFloat), b.to(at::kFloat));
}
void fake_add_wide_product(const at::Tensor& sum, const at::Tensor& a, const at::Tensor& b) {
  sum.add_(fake_wide_product(a, b));
}

at::Tensor with_bias(const at::Tensor& x, const Optional& bias) {
  return bias ? x.to(at::kFloat) + *bias : x.to(at::kFloat);
}
at::Tensor fake_gelu(const at::Tensor& x, const Optional& bias) {
  return at::gelu(with_bias(x, bias), "tanh").to(x.scalar_type());
}
at::Tensor fake_gelu_backward(const at::Tensor& of_y, const at::Tensor& x, const Optional& bias,
                              bool again) {
  const auto gradient = at::gelu_backward(of_y.to(at::kFloat), with_bias(x, bias), "tanh");
  of_y.copy_(gradient);
  if (again) x.copy_(fake_gelu(x, bias));
  made.again += again ? 1 : 0;
  return gradient.sum(0);
}

std::tuple<at::Tensor, at::Tensor> fake_join(const at::Tensor& q, const at::Tensor& k,
                                             const at::Tensor& v) {
  ++made.joined;
  std::vector<at::Tensor> rows;
  for (const auto& part : {q, k, v}) rows.push_back(part.transpose(1, 2).flatten(2));
  const auto product = at::cat(rows, -1);
  return {product, product.to(at::kFloat).flatten(0, 1).sum(0)};
}

}  // namespace

FakeTrainingKernels::FakeTrainingKernels(bool norms) {
  training_present = true;
  norms_present = norms;
}
FakeTrainingKernels::~FakeTrainingKernels() { training_present = norms_present = false; }
FakeTrainingKernels::Calls FakeTrainingKernels::calls() { return made; }

TORCH_LIBRARY_IMPL(ubique, CPU, library) {
  library.impl("does_add_norm", TORCH_FN(fake_does_norm));
  library.impl("add_norm", TORCH_FN(fake_norm));
  library.impl("add_norm_backward", TORCH_FN(fake_norm_backward));
  library.impl("does_wide_product", TORCH_FN(fake_does_training));
  library.impl("wide_product", TORCH_FN(fake_wide_product));
  library.impl("add_wide_product_", TORCH_FN(fake_add_wide_product));
  library.impl("does_biased_gelu", TORCH_FN(fake_does_training));
  library.impl("biased_gelu", TORCH_FN(fake_gelu));
  library.impl("biased_gelu_backward", TORCH_FN(fake_gelu_backward));
  library.impl("does_join_qkv", TORCH_FN(fake_does_training));
  library.impl("join_qkv", TORCH_FN(fake_join));
}

}  // namespace ubique::test
