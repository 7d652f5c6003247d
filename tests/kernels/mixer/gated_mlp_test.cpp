// SPDX-License-Identifier: Apache-2.0
// The gated MLP blocks and post_norm against the textbook formulas, forward and backward.
#include "ubique/kernels/mixer/gated_mlp.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <doctest/doctest.h>

#include "tests/tensors.h"

namespace ubique::kernels {
namespace {

at::Tensor rms_norm(const at::Tensor& u) {
  return u * (u.square().mean(-1, true) + kNormEpsilon).rsqrt();
}

/// The textbook formula; the token MLP runs on a transposed copy.
at::Tensor plain_block(const at::Tensor& x, const at::Tensor& gate_up, const at::Tensor& down,
                       bool tokens) {
  const auto rows = tokens ? x.transpose(1, 2) : x;
  const auto wide = at::linear(rows, gate_up).chunk(2, -1);
  const auto y = rms_norm(rows + at::linear(at::silu(wide[0]) * wide[1], down));
  return tokens ? y.transpose(1, 2) : y;
}

struct Leaves {
  at::Tensor x, gate_up, down;
  Leaves(at::ScalarType dtype, std::int64_t length, std::int64_t width, std::int64_t inner,
         bool tokens) {
    const auto d = tokens ? length : width;
    x = test::random_tensor({3, length, width}, 1).to(dtype);
    gate_up = test::random_tensor({2 * inner, d}, 2) / std::sqrt(static_cast<double>(d));
    down = test::random_tensor({d, inner}, 3) / std::sqrt(static_cast<double>(inner));
    if (dtype == at::kDouble) {
      gate_up = gate_up.to(dtype);
      down = down.to(dtype);
    }
    for (auto* leaf : {&x, &gate_up, &down}) leaf->set_requires_grad(true);
  }
  std::vector<at::Tensor> gradients() const { return {x.grad(), gate_up.grad(), down.grad()}; }
};

}  // namespace

TEST_CASE("gated MLP: forward and gradients of both kinds match the formula, odd extents") {
  for (const bool tokens : {false, true}) {
    for (const auto activations : {Activations::Keep, Activations::Recompute}) {
      Leaves ours(at::kDouble, 7, 5, 6, tokens), plain(at::kDouble, 7, 5, 6, tokens);
      const GatedWeights weights{{ours.gate_up, at::kDouble}, {ours.down, at::kDouble}, {}, {}};
      const auto y = tokens ? token_mlp_block(ours.x, weights, activations)
                            : swiglu_block(ours.x, weights, activations);
      const auto expected = plain_block(plain.x, plain.gate_up, plain.down, tokens);
      CHECK(test::distance(y, expected) < 1e-12);
      const auto upstream = test::random_tensor(y.sizes(), 4).to(at::kDouble);
      y.backward(upstream);
      expected.backward(upstream);
      for (std::size_t i = 0; i < 3; ++i) {
        CHECK(test::distance(ours.gradients()[i], plain.gradients()[i]) < 1e-12);
      }
    }
  }
}

TEST_CASE("gated MLP: weights in bf16 have gradients in f32, near the exact ones") {
  for (const bool tokens : {false, true}) {
    Leaves ours(at::kBFloat16, 9, 16, 32, tokens), plain(at::kDouble, 9, 16, 32, tokens);
    const GatedWeights weights{{ours.gate_up, at::kBFloat16}, {ours.down, at::kBFloat16}, {}, {}};
    auto y = tokens ? token_mlp_block(ours.x, weights, Activations::Recompute)
                    : swiglu_block(ours.x, weights, Activations::Recompute);
    CHECK((y.scalar_type() == at::kBFloat16));
    const auto expected = plain_block(plain.x, plain.gate_up, plain.down, tokens);
    CHECK(test::distance(y, expected) < 0.05);
    y.backward(at::ones_like(y));
    expected.backward(at::ones_like(expected));
    CHECK((ours.gate_up.grad().scalar_type() == at::kFloat));
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(test::relative_distance(ours.gradients()[i], plain.gradients()[i]) < 0.05);
    }
  }
}

TEST_CASE("gated MLP: nothing is recorded without gradients") {
  Leaves leaves(at::kDouble, 4, 4, 8, false);
  const GatedWeights weights{{leaves.gate_up, at::kDouble}, {leaves.down, at::kDouble}, {}, {}};
  const c10::NoGradGuard no_gradients;
  CHECK_FALSE(swiglu_block(leaves.x, weights, Activations::Keep).requires_grad());
}

TEST_CASE("post_norm: the branch and the residual have the same gradient") {
  auto x = test::random_tensor({2, 3, 8}, 1).to(at::kDouble).set_requires_grad(true);
  auto branch = test::random_tensor({2, 3, 8}, 2).to(at::kDouble).set_requires_grad(true);
  auto plain = (x + branch).detach().set_requires_grad(true);
  const auto y = post_norm(x, branch), expected = rms_norm(plain);
  CHECK(test::distance(y, expected) < 1e-12);
  const auto upstream = test::random_tensor({2, 3, 8}, 3).to(at::kDouble);
  y.backward(upstream);
  expected.backward(upstream);
  CHECK(test::distance(x.grad(), plain.grad()) < 1e-12);
  CHECK(branch.grad().equal(x.grad()));
}

TEST_CASE("cast weight: many uses add up in the weight's own precision") {
  auto weight = at::ones({1}).set_requires_grad(true);
  const CastWeight cast(weight, at::kBFloat16);
  const double steps[] = {256, 1, 1, 1};  // bf16 would lose every 1
  for (const double factor : steps) (cast.use().sum() * factor).backward();
  CHECK(weight.grad().item<double>() == 259);
}

}  // namespace ubique::kernels
