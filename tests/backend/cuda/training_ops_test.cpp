// SPDX-License-Identifier: Apache-2.0
// The kernels of a language model's training step on a card, against the CPU in double precision.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/backend/cuda/card.h"
#include "ubique/kernels/decoder/add_norm.h"
#include "ubique/kernels/decoder/gelu_mlp.h"
#include "ubique/kernels/decoder/head_product.h"
#include "ubique/kernels/decoder/token_gradient.h"
#include "ubique/kernels/decoder/wide_product.h"

using namespace ubique;
using test::card, test::doubled;

namespace {

/// Values on the card that bf16 or f32 holds exactly, as leaves there and in double on the CPU.
struct Pairs {
  std::vector<at::Tensor> card, exact;
  at::Tensor add(at::IntArrayRef shape, at::ScalarType dtype, double size = 1) {
    const auto values = (at::randn(shape) * size).to(dtype);
    card.push_back(values.to(*test::card()).requires_grad_());
    exact.push_back(doubled(values).requires_grad_());
    return card.back();
  }
  /// Every value has the same weight in this error, so that one wrong row shows.
  void check_gradients(double allowed) const {
    for (std::size_t i = 0; i < card.size(); ++i) {
      CAPTURE(i);
      CHECK(test::error_of(card[i].grad(), exact[i].grad()) < allowed);
    }
  }
};

void backward_both(const at::Tensor& got, const at::Tensor& expected) {
  const auto incoming = at::randn(expected.sizes()).to(got.scalar_type());
  got.backward(incoming.to(got.device()), /*retain_graph=*/true);
  expected.backward(doubled(incoming), /*retain_graph=*/true);
}

}  // namespace

TEST_CASE(
    "cuda training: add_norm and its gradients, f32 and narrow streams, all kinds of widths") {
  if (!card()) return;
  at::manual_seed(1);
  for (const std::int64_t width : {64, 768, 1000, 2560, 8192}) {
    for (const auto stream : {at::kFloat, at::kBFloat16}) {
      CAPTURE(width);
      const std::int64_t rows = width > 4096 ? 1501 : 4099;  // several turns of blocks, and a rest
      Pairs pairs;
      const auto residual = pairs.add({rows, width}, stream);
      const kernels::Branch branch{pairs.add({rows, width}, at::kBFloat16),
                                   pairs.add({width}, at::kFloat)};
      const auto weight = pairs.add({width}, at::kFloat), bias = pairs.add({width}, at::kFloat);
      REQUIRE(kernels::does_add_norm(residual, at::kBFloat16));
      const auto [sum, normed] = kernels::add_norm(residual, branch, weight, bias, at::kBFloat16,
                                                   {.center = width != 64, .epsilon = 1e-5});
      const auto& in = pairs.exact;
      const auto exact_sum = in[0] + in[1] + in[2];
      const auto middle = width != 64 ? exact_sum.mean(-1, true) : at::zeros({1}, at::kDouble);
      const auto inverse = ((exact_sum - middle).square().mean(-1, true) + 1e-5).rsqrt();
      const auto exact_normed = (exact_sum - middle) * inverse * in[3] + in[4];
      CHECK(test::error_of(sum.detach(), exact_sum.detach()) < 1.6e-2);
      CHECK(test::error_of(normed.detach(), exact_normed.detach()) < 1.6e-2);
      backward_both(normed, exact_normed);
      backward_both(sum, exact_sum);
      pairs.check_gradients(2e-2);
    }
  }
}

TEST_CASE("cuda training: an MLP with GELU, hidden values kept and computed again") {
  if (!card()) return;
  at::manual_seed(2);
  for (const bool keep : {true, false}) {
    Pairs pairs;
    const auto x = pairs.add({3, 1001, 256}, at::kBFloat16);
    const auto up = pairs.add({1032, 256}, at::kFloat, 0.1), bias = pairs.add({1032}, at::kFloat),
               down = pairs.add({256, 1032}, at::kFloat, 0.1);
    REQUIRE(kernels::does_biased_gelu(at::empty({1, 1032}, x.options())));
    const auto y = kernels::gelu_mlp(x, {{up, at::kBFloat16}, {down, at::kBFloat16}, bias, keep});
    const auto& in = pairs.exact;
    const auto expected = at::linear(at::gelu(at::linear(in[0], in[1], in[2]), "tanh"), in[3]);
    CHECK(test::error_of(y.detach(), expected.detach()) < 2e-2);
    backward_both(y, expected);
    pairs.check_gradients(3e-2);
  }
}

TEST_CASE("cuda training: heads of a product and the joined gradients of attention") {
  if (!card()) return;
  at::manual_seed(3);
  Pairs pairs;
  const auto x = pairs.add({2, 1001, 256}, at::kBFloat16);
  const auto weight = pairs.add({896, 256}, at::kFloat, 0.1), bias = pairs.add({896}, at::kFloat);
  const auto heads = kernels::head_product(x, {weight, at::kBFloat16}, bias, {12, 1, 1});
  REQUIRE(kernels::does_join_qkv(heads[0]));
  const auto& in = pairs.exact;
  const auto parts = at::linear(in[0], in[1], in[2])
                         .unflatten(2, {14, 64})
                         .transpose(1, 2)
                         .split_with_sizes({12, 1, 1}, 1);
  at::Tensor loss = at::zeros({}, x.options().dtype(at::kFloat)),
             expected = at::zeros({}, at::kDouble);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto incoming = at::randn(parts[i].sizes()).to(at::kBFloat16);
    loss = loss + (heads[i] * incoming.to(*card())).to(at::kFloat).sum();
    expected = expected + (parts[i] * doubled(incoming)).sum();
  }
  loss.backward();
  expected.backward();
  pairs.check_gradients(2e-2);
}

TEST_CASE("cuda training: f32 sums of products, new and added in place") {
  if (!card()) return;
  at::manual_seed(4);
  const auto a = at::randn({2048, 768}).to(at::kBFloat16),
             b = at::randn({2048, 640}).to(at::kBFloat16);
  const auto on_card = [](const at::Tensor& x) { return x.to(*card()); };
  REQUIRE(kernels::does_wide_product(on_card(a)));
  const auto expected = at::mm(doubled(a).t(), doubled(b));
  const auto product = kernels::product_as(at::kFloat, on_card(a).t(), on_card(b));
  CHECK(test::error_of(product, expected) < 1e-5);
  kernels::add_product_(product, on_card(a).t(), on_card(b));
  CHECK(test::error_of(product, expected * 2) < 1e-5);
}

TEST_CASE(
    "cuda training: the loss's gradient of short and long rows, kept in shared memory or not") {
  if (!card()) return;
  at::manual_seed(5);
  for (const std::int64_t tokens : {1000, 49152, 151936}) {
    CAPTURE(tokens);
    const auto logits = (at::randn({37, tokens}) * 3).to(at::kBFloat16);
    const auto labels = at::randint(tokens, {37}, at::kLong);
    labels[5].fill_(-100);
    const auto in_place = logits.to(*card());
    REQUIRE(kernels::does_token_gradient(in_place));
    const auto [loss, correct] = kernels::token_gradient_(in_place, labels.to(*card()), true);
    const auto logs = at::log_softmax(doubled(logits), 1);
    const auto counts = labels.ge(0).to(at::kDouble);
    const auto target = labels.clamp_min(0).unsqueeze(1);
    const auto hot = at::zeros_like(logs).scatter(1, target, 1);
    CHECK(test::error_of(loss, -logs.gather(1, target).squeeze(1) * counts) < 1e-5);
    CHECK(test::error_of(in_place, (logs.exp() - hot) * counts.unsqueeze(1)) < 1e-2);
  }
}
