// SPDX-License-Identifier: Apache-2.0
// add_norm and token_gradient_ through fake CPU kernels that compute in plain ops: the checks
// before the first use, the autograd node, and what is asked of a kernel.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <doctest/doctest.h>
#include <torch/library.h>

#include "tests/kernels/decoder/fake_training_kernels.h"
#include "ubique/kernels/decoder/add_norm.h"
#include "ubique/kernels/decoder/token_gradient.h"

using namespace ubique::kernels;

namespace {

bool present = false;  // in other tests the CPU has none of these

bool fake_does_token(const at::Tensor&) { return present; }

std::tuple<at::Tensor, at::Tensor> fake_token(const at::Tensor& logits, const at::Tensor& labels,
                                              bool gradient) {
  const auto counts = labels.ge(0).to(at::kFloat);
  const auto target = labels.clamp_min(0).unsqueeze(1);
  const auto logs = at::log_softmax(logits.to(at::kFloat), 1);
  const auto correct = logits.argmax(1).eq(labels).to(at::kFloat);
  if (gradient) {
    const auto hot = at::zeros_like(logs).scatter(1, target, 1);
    logits.copy_((logs.exp() - hot) * counts.unsqueeze(1));
  }
  return {-logs.gather(1, target).squeeze(1) * counts, correct};
}

struct FakeDecoderKernels {
  ubique::test::FakeTrainingKernels training;  // with add_norm
  FakeDecoderKernels() { present = true; }
  ~FakeDecoderKernels() { present = false; }
};

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CPU, library) {
  library.impl("does_token_gradient", TORCH_FN(fake_does_token));
  library.impl("token_gradient_", TORCH_FN(fake_token));
}

TEST_CASE("add_norm: a right kernel passes its check, also under inference mode") {
  const FakeDecoderKernels kernels;
  const auto x = at::ones({2, 24});
  CHECK(does_add_norm(x, at::kFloat));
  const c10::InferenceMode inference;
  CHECK(does_add_norm(at::ones({2, 40}), at::kFloat));
}

TEST_CASE("add_norm: gradients of sum and norm meet in residual and branch") {
  const FakeDecoderKernels kernels;
  for (const bool center : {true, false}) {
    const auto leaf = [](at::IntArrayRef shape) { return at::randn(shape).requires_grad_(); };
    const auto residual = leaf({2, 3, 16}), branch = leaf({2, 3, 16}), weight = leaf({16});
    const auto bias = leaf({16}), offset = leaf({16});
    const std::vector<at::Tensor> leaves = {residual, branch, offset, weight, bias};
    const auto a = at::randn({2, 3, 16}), b = at::randn({2, 3, 16});
    const auto gradients = [&](const at::Tensor& sum, const at::Tensor& normed) {
      for (const auto& each : leaves) at::Tensor(each).mutable_grad() = at::Tensor();
      ((sum * a).sum() + (normed * b).sum()).backward();
      std::vector<at::Tensor> found;
      for (const auto& each : leaves) found.push_back(each.grad().clone());
      return found;
    };
    const auto [sum, normed] = add_norm(residual, {branch, offset}, weight, bias, at::kFloat,
                                        {.center = center, .epsilon = 1e-5});
    const auto got = gradients(sum, normed);
    const auto plain = residual + branch + offset;
    const auto mean = center ? plain.mean(-1, true) : at::zeros({1});
    const auto inverse = ((plain - mean).square().mean(-1, true) + 1e-5).rsqrt();
    const auto expected = gradients(plain, (plain - mean) * inverse * weight + bias);
    for (std::size_t i = 0; i < got.size(); ++i) {
      CAPTURE(i);
      CHECK(largest_difference(got[i], expected[i]) < 1e-5);
    }
  }
}

TEST_CASE("add_norm: without a branch or bias, and with one result unused") {
  const FakeDecoderKernels kernels;
  const auto residual = at::randn({4, 16}).requires_grad_(), weight = at::ones({16});
  const auto [sum, normed] = add_norm(residual, {}, weight, {}, at::kFloat, {});
  CHECK(largest_difference(sum, residual) == 0);
  normed.square().sum().backward();
  const auto alone = residual.grad().clone();
  const auto copy = residual.detach().clone().requires_grad_();
  at::layer_norm(copy, {16}, weight).square().sum().backward();
  CHECK(largest_difference(alone, copy.grad()) < 1e-4);
  const auto again = residual.detach().clone().requires_grad_();
  std::get<0>(add_norm(again, {}, weight, {}, at::kFloat, {})).sum().backward();
  CHECK(largest_difference(again.grad(), at::ones({4, 16})) == 0);
}

TEST_CASE("add_norm: the branch's bias has a gradient where only the sum is used") {
  const FakeDecoderKernels kernels;
  const auto residual = at::randn({4, 16}).requires_grad_(), weight = at::ones({16});
  const auto branch = at::randn({4, 16}).requires_grad_(), offset = at::ones({16}).requires_grad_();
  std::get<0>(add_norm(residual, {branch, offset}, weight, {}, at::kFloat, {})).sum().backward();
  CHECK(largest_difference(branch.grad(), at::ones({4, 16})) == 0);
  CHECK(largest_difference(offset.grad(), at::full({16}, 4)) == 0);
}

TEST_CASE("token_gradient: a right kernel passes its check") {
  const FakeDecoderKernels kernels;
  CHECK(does_token_gradient(at::zeros({3, 40})));
}
