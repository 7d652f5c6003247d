// SPDX-License-Identifier: Apache-2.0
// norm_act and its hand-written backward against autograd, in double.
#include "ubique/kernels/conv/norm_act.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "ubique/kernels/conv/convolve.h"

using namespace ubique::kernels;

namespace {

double gap(const at::Tensor& a, const at::Tensor& b) { return (a - b).abs().max().item<double>(); }

at::Tensor plain(const at::Tensor& x, const NormAct& how) {
  auto y = x;
  if (how.norm == Norm::Batch) {
    y = at::batch_norm(y, how.weight, how.bias, {}, {}, true, 0, how.epsilon, false);
  } else if (how.norm == Norm::Instance) {
    y = at::group_norm(y, y.size(1), {}, {}, how.epsilon);
  }
  if (how.activation == Activation::Relu) y = at::relu(y);
  if (how.activation == Activation::Elu) y = at::elu(y);
  if (how.activation == Activation::Gelu) y = at::gelu(y);
  if (how.activation == Activation::GeluTanh) y = at::gelu(y, "tanh");
  return how.scale.defined() ? y * how.scale : y;
}

void compare_norm_act(Norm norm, Activation activation, bool dropout, at::MemoryFormat layout) {
  const auto options = at::TensorOptions(at::kDouble);
  at::manual_seed(3);
  const auto x = at::randn({2, 3, 4, 5, 3}, options).contiguous(layout);
  NormAct how{norm, activation, 1e-5, at::rand({3}, options) + 0.5, at::randn({3}, options), {}};
  if (norm == Norm::Instance) {
    how.weight.fill_(1);
    how.bias.zero_();
  }
  if (dropout) how.scale = at::tensor({2., 0., 2., 0., 2., 2.}, options).view({2, 3, 1, 1, 1});
  const auto gradient = at::randn_like(x);

  auto recorded = x.clone().requires_grad_();
  auto traced = how;
  traced.weight = how.weight.clone().requires_grad_();
  traced.bias = how.bias.clone().requires_grad_();
  const auto expected = plain(recorded, traced);
  expected.backward(gradient);

  NormStatistics statistics;
  const auto result = norm_act(x, how, statistics);
  CHECK(gap(result, expected.detach()) < 1e-10);
  CHECK(gap(norm_act_recompute(x, how, statistics), expected.detach()) < 1e-10);
  const auto gradients = norm_act_backward(gradient.clone(), result, x, how, statistics);
  CHECK(gap(gradients.input, recorded.grad()) < 1e-10);
  if (norm == Norm::Batch) {
    CHECK(gap(gradients.weight, traced.weight.grad()) < 1e-10);
    CHECK(gap(gradients.bias, traced.bias.grad()) < 1e-10);
  }
}

}  // namespace

TEST_CASE("norm and activation: forward, recomputation and backward agree with autograd") {
  for (const auto norm : {Norm::Batch, Norm::Instance, Norm::None}) {
    for (const auto activation : {Activation::None, Activation::Relu, Activation::Elu,
                                  Activation::Gelu, Activation::GeluTanh}) {
      for (const bool dropout : {false, true}) {
        for (const auto layout : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast3d}) {
          INFO(to_string(norm) << ", " << to_string(activation) << ", dropout " << dropout);
          compare_norm_act(norm, activation, dropout, layout);
        }
      }
    }
  }
}

TEST_CASE("norm and activation: statistics of half-precision inputs are f32") {
  at::manual_seed(4);
  const auto exact = at::randn({1, 3, 6, 7, 8}, at::TensorOptions(at::kFloat)) + 3;
  const auto x = exact.to(at::kBFloat16);
  const NormAct how{Norm::Batch, Activation::Relu, 1e-5, at::ones({3}), at::zeros({3}), {}};
  NormStatistics statistics;
  const auto y = norm_act(x, how, statistics);
  CHECK((y.scalar_type() == at::kBFloat16));
  CHECK((statistics.mean.scalar_type() == at::kFloat));
  const auto as_float = x.to(at::kFloat);
  CHECK(gap(statistics.mean, as_float.mean({0, 2, 3, 4})) < 1e-5);
  CHECK(gap(statistics.variance(1e-5), as_float.var({0, 2, 3, 4}, false)) < 1e-4);
}

TEST_CASE("norm and activation: a constant channel gives its bias, not NaN") {
  const auto x = at::full({1, 2, 3, 3, 3}, 7.0, at::TensorOptions(at::kFloat));
  const NormAct how{Norm::Batch, Activation::Relu, 1e-5, at::ones({2}), at::full({2}, 0.5), {}};
  NormStatistics statistics;
  const auto y = norm_act(x, how, statistics);
  CHECK(gap(y, at::full_like(y, 0.5)) < 1e-4);
  CHECK(gap(norm_act_recompute(x, how, statistics), y) < 1e-4);
}

TEST_CASE("convolve: half precision adds its bias separately, with the same result") {
  at::manual_seed(5);
  const auto options = at::TensorOptions(at::kFloat);
  const auto x = at::randn({1, 2, 5, 6, 7}, options), weight = at::randn({3, 2, 3, 3, 3}, options);
  const auto bias = at::randn({3}, options);
  const auto exact = convolve(x, weight, bias, 2);
  const auto half =
      convolve(x.to(at::kBFloat16), weight.to(at::kBFloat16), bias.to(at::kBFloat16), 2);
  CHECK((half.scalar_type() == at::kBFloat16));
  CHECK(gap(half.to(at::kFloat), exact) < 0.02 * exact.abs().max().item<double>());
}
