// SPDX-License-Identifier: Apache-2.0
// Feed-forward layers against their formulas.
#include "ubique/nn/layers/mlp.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <cmath>

#include "tests/base/scratch.h"
#include "tests/tensors.h"

using namespace ubique;
using test::distance;
using test::random_tensor;

namespace {

constexpr nn::Activation kAll[] = {nn::Activation::Silu, nn::Activation::Gelu,
                                   nn::Activation::GeluTanh};

double activated(double x, nn::Activation activation) {
  switch (activation) {
    case nn::Activation::Silu:
      return x / (1 + std::exp(-x));
    case nn::Activation::Gelu:
      return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
    case nn::Activation::GeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  }
  return NAN;
}

at::Tensor activated(const at::Tensor& x, nn::Activation activation) {
  auto result = x.to(at::kDouble).contiguous().clone();
  auto* values = result.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < result.numel(); ++i) values[i] = activated(values[i], activation);
  return result;
}

/// x·weightᵀ + bias in f64.
at::Tensor product(const at::Tensor& x, const nn::LinearWeights& weights) {
  const auto result = at::matmul(x.to(at::kDouble), weights.weight.to(at::kDouble).t());
  return weights.bias.defined() ? result + weights.bias.to(at::kDouble) : result;
}

nn::LinearWeights random_linear(std::int64_t out, std::int64_t in, std::uint64_t seed, bool bias) {
  nn::LinearWeights weights{random_tensor({out, in}, seed) / 3};
  if (bias) weights.bias = random_tensor({out}, seed + 100);
  return weights;
}

}  // namespace

TEST_CASE("mlp: activations are their formulas and have names") {
  const auto x = random_tensor({50}, 1) * 3;
  for (const auto activation : kAll) {
    CAPTURE(nn::to_string(activation));
    CHECK(distance(nn::activate(x, activation), activated(x, activation)) < 1e-5);
    CHECK(nn::parse_activation(nn::to_string(activation)) == activation);
  }
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Usage, [] { (void)nn::parse_activation("sillu"); }),
      "got 'sillu', expected one of silu, gelu, gelu_tanh"));
}

TEST_CASE("mlp: the gated one is down(activation(gate(x)) · up(x))") {
  const auto x = random_tensor({2, 3, 8}, 1);
  for (const bool bias : {false, true}) {
    const auto gate = random_linear(20, 8, 2, bias), up = random_linear(20, 8, 3, bias);
    const auto down = random_linear(8, 20, 4, bias);
    for (const auto activation : kAll) {
      CAPTURE(nn::to_string(activation));
      const auto expected = product(activated(product(x, gate), activation) * product(x, up), down);
      CHECK(distance(nn::gated_mlp(x, gate, up, down, activation), expected) < 1e-5);
    }
  }
}

TEST_CASE("mlp: the plain one is second(activation(first(x)))") {
  const auto x = random_tensor({2, 3, 8}, 1);
  for (const bool bias : {false, true}) {
    const auto first = random_linear(20, 8, 2, bias), second = random_linear(8, 20, 4, bias);
    for (const auto activation : kAll) {
      CAPTURE(nn::to_string(activation));
      const auto expected = product(activated(product(x, first), activation), second);
      CHECK(distance(nn::mlp(x, first, second, activation), expected) < 1e-5);
    }
  }
}
