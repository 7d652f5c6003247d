// SPDX-License-Identifier: Apache-2.0
// linear_and_residual against torch's own ops.
#include "ubique/kernels/mixer/residual_linear.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <doctest/doctest.h>

#include "ubique/kernels/dispatch/self_check.h"

using namespace ubique::kernels;

namespace {

at::Tensor values(at::IntArrayRef shape, int seed) {
  return test_values(shape, at::zeros({1}, at::kDouble), seed);
}

struct Case {
  at::Tensor x = values({2, 3, 4}, 1).requires_grad_();
  at::Tensor weight = values({6, 4}, 2).requires_grad_();
  at::Tensor of_product = values({2, 3, 6}, 3);
  at::Tensor of_rest = values({2, 3, 4}, 4);

  /// Gradients of x and the weight, by torch's own ops.
  std::vector<at::Tensor> expected(bool product, bool rest) const {
    const auto leaf = x.detach().clone().requires_grad_();
    const auto w = weight.detach().clone().requires_grad_();
    auto sum = (leaf * 0).sum();
    if (product) sum = sum + (at::linear(leaf, w) * of_product).sum();
    if (rest) sum = sum + (leaf * of_rest).sum();
    sum.backward();
    return {leaf.grad(), w.grad()};
  }
};

}  // namespace

TEST_CASE("linear and residual: gradients are summed, whichever outputs are used") {
  for (const bool product : {false, true}) {
    for (const bool rest : {false, true}) {
      if (!product && !rest) continue;
      CAPTURE(product);
      CAPTURE(rest);
      const Case made;
      const auto expected = made.expected(product, rest);
      const auto [wide, same] = linear_and_residual(made.x, {made.weight, at::kDouble});
      CHECK(at::equal(wide, at::linear(made.x, made.weight)));
      CHECK(at::equal(same, made.x));
      auto sum = at::zeros({}, at::kDouble);
      if (product) sum = sum + (wide * made.of_product).sum();
      if (rest) sum = sum + (same * made.of_rest).sum();
      sum.backward();
      CHECK(at::allclose(made.x.grad(), expected[0]));
      REQUIRE(made.weight.grad().defined() == product);
      if (product) CHECK(at::allclose(made.weight.grad(), expected[1]));
    }
  }
}

TEST_CASE("linear and residual: the product's gradient is added in place") {
  const Case made;
  const auto [wide, rest] = linear_and_residual(made.x, {made.weight, at::kDouble});
  const void* place = nullptr;
  rest.register_hook([&](const at::Tensor& gradient) { place = gradient.const_data_ptr(); });
  ((wide * made.of_product).sum() + (rest * made.of_rest).sum()).backward();
  CHECK(made.x.grad().const_data_ptr() == place);
}

TEST_CASE("linear and residual: a gradient that is held elsewhere is not modified") {
  const Case made;
  const auto [wide, rest] = linear_and_residual(made.x, {made.weight, at::kDouble});
  at::Tensor seen;
  rest.register_hook([&](const at::Tensor& gradient) { seen = gradient; });
  ((wide * made.of_product).sum() + (rest * made.of_rest).sum()).backward();
  CHECK(at::allclose(seen, made.of_rest));
  CHECK(at::allclose(made.x.grad(), made.expected(true, true)[0]));
}

TEST_CASE(
    "linear and residual: frozen weights pass gradients on; without any nothing is recorded") {
  Case made;
  made.weight = made.weight.detach();
  const auto [wide, rest] = linear_and_residual(made.x, {made.weight, at::kDouble});
  ((wide * made.of_product).sum() + (rest * made.of_rest).sum()).backward();
  CHECK(at::allclose(made.x.grad(), made.expected(true, true)[0]));
  const at::NoGradGuard no_gradients;
  CHECK(!std::get<0>(linear_and_residual(made.x, {made.weight, at::kDouble})).requires_grad());
}

TEST_CASE("linear and residual: weight gradients have the weight's dtype, also if x is frozen") {
  Case made;
  made.x = made.x.detach().to(at::kBFloat16);
  made.weight = made.weight.detach().to(at::kFloat).requires_grad_();
  const auto [wide, rest] = linear_and_residual(made.x, {made.weight, at::kBFloat16});
  CHECK((wide.scalar_type() == at::kBFloat16));
  (wide.to(at::kDouble) * made.of_product).sum().backward();
  CHECK((made.weight.grad().scalar_type() == at::kFloat));
  const auto expected = at::einsum("bln,blk->nk", {made.of_product, made.x.to(at::kDouble)});
  CHECK(at::allclose(made.weight.grad().to(at::kDouble), expected, 0.02, 0.02));
}

TEST_CASE("linear and residual: a non-contiguous gradient is added to as well") {
  const Case made;
  const auto [wide, rest] = linear_and_residual(made.x, {made.weight, at::kDouble});
  const auto turned = (rest.transpose(1, 2) * made.of_rest.transpose(1, 2).contiguous()).sum();
  ((wide * made.of_product).sum() + turned).backward();
  CHECK(at::allclose(made.x.grad(), made.expected(true, true)[0]));
}
