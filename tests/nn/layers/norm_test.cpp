// SPDX-License-Identifier: Apache-2.0
// RMS norm and layer norm against their formulas in f64.
#include "ubique/nn/layers/norm.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/tensors.h"

using namespace ubique;
using test::distance;
using test::random_tensor;

namespace {

at::Tensor rms_formula(const at::Tensor& x, const at::Tensor& weight, double eps) {
  const auto wide = x.to(at::kDouble);
  return wide / (wide.pow(2).sum(-1, true) / static_cast<double>(x.size(-1)) + eps).sqrt() *
         weight.to(at::kDouble);
}

at::Tensor layer_formula(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                         double eps) {
  const auto wide = x.to(at::kDouble);
  const auto centred = wide - wide.mean(-1, true);
  const auto variance = centred.pow(2).mean(-1, true);
  return centred / (variance + eps).sqrt() * weight.to(at::kDouble) + bias.to(at::kDouble);
}

}  // namespace

TEST_CASE("norm: rms_norm and layer_norm are their formulas, with the caller's eps") {
  const auto x = random_tensor({2, 5, 24}, 1) * 3 + 1;
  const auto weight = random_tensor({24}, 2), bias = random_tensor({24}, 3);
  for (const double eps : {1e-6, 1e-5, 0.5}) {
    CAPTURE(eps);
    CHECK(distance(nn::rms_norm(x, weight, eps), rms_formula(x, weight, eps)) < 1e-5);
    CHECK(distance(nn::layer_norm(x, weight, bias, eps), layer_formula(x, weight, bias, eps)) <
          1e-5);
  }
}

TEST_CASE("norm: weights and bias may be absent") {
  const auto x = random_tensor({3, 24}, 1) + 2;
  const auto one = at::ones({24}), zero = at::zeros({24});
  CHECK(distance(nn::rms_norm(x, {}, 1e-6), rms_formula(x, one, 1e-6)) < 1e-5);
  CHECK(distance(nn::layer_norm(x, {}, {}, 1e-6), layer_formula(x, one, zero, 1e-6)) < 1e-5);
  const auto weight = random_tensor({24}, 2);
  CHECK(distance(nn::layer_norm(x, weight, {}, 1e-6), layer_formula(x, weight, zero, 1e-6)) < 1e-5);
}

TEST_CASE("norm: narrow dtypes are normed in f32 and rounded once") {
  const auto weight = random_tensor({24}, 2), bias = random_tensor({24}, 3);
  for (const auto dtype : {at::kBFloat16, at::kHalf}) {
    // Squares of such values overflow f16.
    const auto x = (random_tensor({4, 24}, 1) * 1000).to(dtype);
    const auto rms = nn::rms_norm(x, weight, 1e-5);
    CHECK((rms.scalar_type() == dtype));
    CHECK(at::equal(rms, nn::rms_norm(x.to(at::kFloat), weight, 1e-5).to(dtype)));
    const auto layer = nn::layer_norm(x, weight, bias, 1e-5);
    CHECK((layer.scalar_type() == dtype));
    CHECK(at::equal(layer, nn::layer_norm(x.to(at::kFloat), weight, bias, 1e-5).to(dtype)));
  }
}

TEST_CASE("norm: gradients reach the input, the weight and the bias") {
  auto x = random_tensor({3, 24}, 1).requires_grad_(true);
  auto weight = random_tensor({24}, 2).requires_grad_(true);
  auto bias = random_tensor({24}, 3).requires_grad_(true);
  const auto direction = random_tensor({3, 24}, 4);
  const auto check_gradients = [&](const at::Tensor& ours, const at::Tensor& formula) {
    (ours * direction).sum().backward();
    const auto got_x = x.grad().clone(), got_weight = weight.grad().clone();
    x.mutable_grad() = at::Tensor();
    weight.mutable_grad() = at::Tensor();
    (formula * direction).sum().backward();
    CHECK(distance(got_x, x.grad()) < 1e-5);
    CHECK(distance(got_weight, weight.grad()) < 1e-5);
    x.mutable_grad() = at::Tensor();
    weight.mutable_grad() = at::Tensor();
  };
  check_gradients(nn::rms_norm(x, weight, 1e-5), rms_formula(x, weight, 1e-5));
  check_gradients(nn::layer_norm(x, weight, bias, 1e-5), layer_formula(x, weight, bias, 1e-5));
  CHECK(bias.grad().defined());
}
