// SPDX-License-Identifier: Apache-2.0
// Gated MLP blocks on NVIDIA cards against the CPU in double.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/backend/cuda/card.h"
#include "ubique/backend/cuda/runtime/kernel.h"
#include "ubique/device/numerics.h"
#include "ubique/kernels/dispatch/self_check.h"
#include "ubique/kernels/mixer/gated_mlp.h"
#include "ubique/kernels/mixer/gated_mlp_stack.h"

using namespace ubique;
using namespace ubique::kernels;
using namespace ubique::test;

namespace {

bool is_hopper() { return backend::cuda::card_limits(*card()).capability == 90; }

struct BlockCase {
  bool tokens;
  std::int64_t batch, length, width, inner;
};

/// y and the gradients of x, gate_up and down; without packed weights by plain ops.
std::vector<at::Tensor> run_block(const BlockCase& how, const at::Tensor& x,
                                  const at::Tensor& gate_up, const at::Tensor& down,
                                  const at::Tensor& gradient, Activations activations,
                                  bool packed = true) {
  const auto dtype = x.scalar_type();
  auto leaf = x.detach().requires_grad_();
  auto wide = gate_up.detach().requires_grad_(), narrow = down.detach().requires_grad_();
  GatedWeights weights{{wide, dtype}, {narrow, dtype}, {}, {}};
  if (packed) how.tokens ? pack_for_token_mlp(weights, how.width) : pack_for_swiglu(weights);
  const auto y = how.tokens ? token_mlp_block(leaf, weights, activations)
                            : swiglu_block(leaf, weights, activations);
  y.backward(gradient);
  return {y.detach(), leaf.grad(), wide.grad(), narrow.grad()};
}

void compare_block(const BlockCase& how, at::ScalarType dtype) {
  CAPTURE(how.tokens);
  CAPTURE(how.length);
  CAPTURE(dtype);
  at::manual_seed(3);
  const auto d = static_cast<double>(how.tokens ? how.length : how.width);
  const auto columns = how.tokens ? how.length : how.width;
  const auto x = at::randn({how.batch, how.length, how.width}).to(dtype);
  const auto gate_up =
      (at::randn({2 * how.inner, columns}) / std::sqrt(d)).to(dtype).to(at::kFloat);
  const auto down =
      (at::randn({columns, how.inner}) / std::sqrt(double(how.inner))).to(dtype).to(at::kFloat);
  const auto gradient = at::randn(x.sizes()).to(dtype);
  const auto expected = run_block(how, doubled(x), doubled(gate_up), doubled(down),
                                  doubled(gradient), Activations::Keep);
  const auto on_card = [&](Activations activations, bool packed) {
    return run_block(how, x.to(*card()), gate_up.to(*card()), down.to(*card()),
                     gradient.to(*card()), activations, packed);
  };
  const auto plain = on_card(Activations::Keep, /*packed=*/false);
  for (const auto activations : {Activations::Keep, Activations::Recompute}) {
    const auto got = on_card(activations, /*packed=*/true);
    for (std::size_t i = 0; i < got.size(); ++i) {
      CAPTURE(i);
      // A gradient summed over thousands of tokens rounds more: as much as plain ops may.
      const auto allowed = (i < 1 ? 1 : 2) * rounding_of(dtype);
      CHECK(error_of(got[i], expected[i]) <
            std::max(allowed, 1.25 * error_of(plain[i], expected[i])));
    }
  }
}

}  // namespace

TEST_CASE("cuda gated MLP: blocks and their gradients agree with the CPU in double") {
  if (!card()) return;
  device::apply_numerics(*card(), {.tf32 = false});
  for (const auto dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const bool tokens : {false, true}) {
      compare_block({tokens, 3, 97, 512, 512}, dtype);
      compare_block({tokens, 9, 97, 512, 512}, dtype);
      compare_block({tokens, 70, 81, 256, tokens ? 128 : 256}, dtype);
      compare_block({tokens, 2, 20, 64, 256}, dtype);
      compare_block({tokens, 1, 7, 24, 40}, dtype);
      compare_block({tokens, 5, 33, 136, 64}, dtype);
    }
  }
  compare_block({false, 43, 97, 512, 768}, at::kBFloat16);  // as wide as the fused gate can be
  compare_block({false, 97, 97, 64, 512},
                at::kBFloat16);  // more than one work item per multiprocessor
}

TEST_CASE(
    "cuda gated MLP: on Hopper the kernels pass their self-check, so that the comparison covers "
    "them") {
  if (!card() || !is_hopper()) return;
  const auto weights = [](std::int64_t inner, std::int64_t columns) {
    const auto like = at::zeros({1}).to(*card());
    return GatedWeights{{test_values({2 * inner, columns}, like, 1), at::kBFloat16},
                        {test_values({columns, inner}, like, 2), at::kBFloat16},
                        {},
                        {}};
  };
  for (const std::int64_t length : {97, 81}) {
    auto tokens = weights(512, length);
    pack_for_token_mlp(tokens, 512);
    CHECK(tokens.packed.defined());
  }
  for (const auto& [inner, width] : {std::pair{1536, 512}, {768, 512}, {512, 64}, {256, 256}}) {
    auto channels = weights(inner, width);
    pack_for_swiglu(channels);
    CHECK(channels.packed.defined());
    CHECK(channels.packed_back.defined());
  }
}

TEST_CASE("cuda gated MLP: extents that vectors do not divide use plain ops") {
  if (!card()) return;
  compare_block({false, 2, 5, 13, 9}, at::kFloat);
  compare_block({true, 2, 5, 13, 9}, at::kBFloat16);
}

TEST_CASE("cuda gated MLP: repeated calls of a stack on few samples agree with the CPU in double") {
  if (!card()) return;
  const at::NoGradGuard no_gradients;
  for (const std::int64_t length : {97, 81}) {
    for (const std::int64_t batch : {1, 5}) {
      CAPTURE(length);
      CAPTURE(batch);
      at::manual_seed(4);
      const auto h = at::randn({batch, length, 512}).to(at::kBFloat16);
      const auto injected = at::randn(h.sizes()).to(at::kBFloat16);
      GatedMlpStack stack;
      auto expected = doubled(h);
      std::vector<std::pair<GatedWeights, GatedWeights>> blocks;
      const auto weights = [](std::int64_t inner, std::int64_t columns) {
        const auto wide = at::randn({2 * inner, columns}) / std::sqrt(double(columns));
        const auto narrow = at::randn({columns, inner}) / std::sqrt(double(inner));
        return std::pair(wide.to(at::kBFloat16), narrow.to(at::kBFloat16));
      };
      for (int i = 0; i < 2; ++i) {
        const auto [token_up, token_down] = weights(512, length);
        const auto [up, down] = weights(1536, 512);
        const auto on = [&](const at::Tensor& weight) {
          return CastWeight(weight.to(*card()), at::kBFloat16);
        };
        stack.add({on(token_up), on(token_down), {}, {}}, {on(up), on(down), {}, {}});
        const auto in_double = [](const at::Tensor& weight) {
          return CastWeight(doubled(weight), at::kDouble);
        };
        blocks.push_back({{in_double(token_up), in_double(token_down), {}, {}},
                          {in_double(up), in_double(down), {}, {}}});
      }
      if (!is_hopper()) return;  // no kernel for other cards
      REQUIRE(!stack.packed.empty());
      for (int call = 0; call < 2; ++call) {
        expected = expected + doubled(injected);
        for (const auto& [tokens, channels] : blocks) {
          expected = token_mlp_block(expected, tokens, Activations::Recompute);
          expected = swiglu_block(expected, channels, Activations::Recompute);
        }
      }
      const auto on_card = h.to(*card());
      CHECK(stack.takes(on_card) == (batch == 1));
      const auto got = stack.call(on_card, injected.to(*card()), 2);
      CHECK(error_of(got, expected) < 2 * rounding_of(at::kBFloat16));
      CHECK(at::equal(stack.call(on_card, injected.to(*card()), 2), got));
    }
  }
}
