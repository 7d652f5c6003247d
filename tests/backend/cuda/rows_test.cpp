// SPDX-License-Identifier: Apache-2.0
// Gated and normed layers on NVIDIA cards against the same work on the CPU in double.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/backend/cuda/card.h"
#include "ubique/backend/cuda/runtime/kernel.h"
#include "ubique/device/numerics.h"
#include "ubique/kernels/dispatch/fused_rows.h"
#include "ubique/kernels/dispatch/self_check.h"
#include "ubique/kernels/mixer/fused_qkv_attention.h"
#include "ubique/kernels/mixer/gated_mlp.h"
#include "ubique/kernels/mixer/gated_mlp_stack.h"

using namespace ubique;
using namespace ubique::kernels;
using namespace ubique::test;

namespace {

bool is_hopper() { return backend::cuda::card_limits(*card()).capability == 90; }

struct MixCase {
  bool tokens;
  std::int64_t batch, length, width, inner;
};

/// y and the gradients of x, gate_up and down.
std::vector<at::Tensor> run_mix(const MixCase& how, const at::Tensor& x, const at::Tensor& gate_up,
                                const at::Tensor& down, const at::Tensor& gradient, Kept kept) {
  const auto dtype = x.scalar_type();
  auto leaf = x.detach().requires_grad_();
  auto wide = gate_up.detach().requires_grad_(), narrow = down.detach().requires_grad_();
  GatedWeights weights{{wide, dtype}, {narrow, dtype}, {}, {}};
  how.tokens ? pack_for_token_mix(weights, how.width) : pack_for_channel_mix(weights);
  const auto y = how.tokens ? token_mix(leaf, weights, kept) : channel_mix(leaf, weights, kept);
  y.backward(gradient);
  return {y.detach(), leaf.grad(), wide.grad(), narrow.grad()};
}

void compare_mix(const MixCase& how, at::ScalarType dtype) {
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
  const auto expected =
      run_mix(how, doubled(x), doubled(gate_up), doubled(down), doubled(gradient), Kept::Wide);
  for (const auto kept : {Kept::Wide, Kept::Narrow}) {
    const auto got = run_mix(how, x.to(*card()), gate_up.to(*card()), down.to(*card()),
                             gradient.to(*card()), kept);
    for (std::size_t i = 0; i < got.size(); ++i) {
      CAPTURE(i);
      CHECK(error_of(got[i], expected[i]) < (i < 1 ? 1 : 2) * rounding_of(dtype));
    }
  }
}

}  // namespace

TEST_CASE("cuda rows: sub-layers and their gradients agree with the CPU in double") {
  if (!card()) return;
  device::apply_numerics(*card(), {.tf32 = false});
  for (const auto dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const bool tokens : {false, true}) {
      compare_mix({tokens, 3, 97, 512, 512}, dtype);
      compare_mix({tokens, 9, 97, 512, 512}, dtype);
      compare_mix({tokens, 70, 81, 256, tokens ? 128 : 256}, dtype);
      compare_mix({tokens, 2, 20, 64, 256}, dtype);
      compare_mix({tokens, 1, 7, 24, 40}, dtype);
      compare_mix({tokens, 5, 33, 136, 64}, dtype);
    }
  }
  compare_mix({false, 43, 97, 512, 768}, at::kBFloat16);  // as wide as the fused gate can be
  compare_mix({false, 97, 97, 64, 512}, at::kBFloat16);   // a processor has more than one turn
}

TEST_CASE("cuda rows: on Hopper the kernels are trusted, so that it is they who are compared") {
  if (!card() || !is_hopper()) return;
  const auto weights = [](std::int64_t inner, std::int64_t columns) {
    const auto like = at::zeros({1}).to(*card());
    return GatedWeights{{made_up({2 * inner, columns}, like, 1), at::kBFloat16},
                        {made_up({columns, inner}, like, 2), at::kBFloat16},
                        {},
                        {}};
  };
  for (const std::int64_t length : {97, 81}) {
    auto tokens = weights(512, length);
    pack_for_token_mix(tokens, 512);
    CHECK(tokens.packed.defined());
  }
  for (const auto& [inner, width] : {std::pair{1536, 512}, {768, 512}, {512, 64}, {256, 256}}) {
    auto channels = weights(inner, width);
    pack_for_channel_mix(channels);
    CHECK(channels.packed.defined());
    CHECK(channels.packed_back.defined());
  }
}

TEST_CASE("cuda rows: extents that vectors do not divide are done by plain ops") {
  if (!card()) return;
  compare_mix({false, 2, 5, 13, 9}, at::kFloat);
  compare_mix({true, 2, 5, 13, 9}, at::kBFloat16);
}

TEST_CASE(
    "cuda rows: a stack called again and again on few samples agrees with the CPU in double") {
  if (!card()) return;
  const at::NoGradGuard no_gradients;
  for (const std::int64_t length : {97, 81}) {
    for (const std::int64_t batch : {1, 5}) {
      CAPTURE(length);
      CAPTURE(batch);
      at::manual_seed(4);
      const auto h = at::randn({batch, length, 512}).to(at::kBFloat16);
      const auto injected = at::randn(h.sizes()).to(at::kBFloat16);
      MixStack stack;
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
      if (!is_hopper()) return;  // done by ops that others test
      REQUIRE(!stack.packed.empty());
      for (int call = 0; call < 2; ++call) {
        expected = expected + doubled(injected);
        for (const auto& [tokens, channels] : blocks) {
          expected = token_mix(expected, tokens, Kept::Narrow);
          expected = channel_mix(expected, channels, Kept::Narrow);
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

TEST_CASE("cuda heads: rotation and its gradient agree with the CPU in double") {
  if (!card()) return;
  for (const auto dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    CAPTURE(dtype);
    at::manual_seed(5);
    const auto qkv = at::randn({3, 11, 3 * 4 * 64}).to(dtype);
    const auto angles = at::randn({16, 32});
    const auto both = at::cat({angles, angles}, -1);
    const auto cos = both.cos(), sin = both.sin();
    const auto run = [&](at::Tensor x, const at::Tensor& c, const at::Tensor& s) {
      auto leaf = x.detach().requires_grad_();
      const auto [q, k, v] = split_heads(leaf * 1, 4, c, s);
      const auto weights = at::arange(64, leaf.options()) / 64.0;
      (q * weights + k * k + v).sum().backward();
      return std::vector<at::Tensor>{q.detach(), k.detach(), v.detach(), leaf.grad()};
    };
    const auto expected = run(doubled(qkv), doubled(cos), doubled(sin));
    const auto got = run(qkv.to(*card()), cos.to(*card()), sin.to(*card()));
    for (std::size_t i = 0; i < got.size(); ++i) {
      CHECK(error_of(got[i], expected[i]) < 2 * rounding_of(dtype));
    }
  }
}

TEST_CASE("cuda attend: sequences agree with the CPU in double, looking back alone or not") {
  if (!card()) return;
  for (const auto dtype : {at::kBFloat16, at::kHalf}) {
    for (const std::int64_t length : {97, 16, 5, 128, 129, 916, 200}) {
      for (const bool causal : {false, true}) {
        CAPTURE(dtype);
        CAPTURE(length);
        CAPTURE(causal);
        at::manual_seed(6);
        const auto qkv = at::randn({3, length, 3 * 2 * 64}).to(dtype);
        const auto angles = at::randn({length, 32});
        const auto both = at::cat({angles, angles}, -1);
        const auto cos = both.cos(), sin = both.sin();
        const auto got = attend(qkv.to(*card()), 2, cos.to(*card()), sin.to(*card()), causal);
        if (length > 128 && dtype == at::kHalf) continue;  // plain ops
        REQUIRE(got.defined());
        const auto [q, k, v] = split_heads(doubled(qkv), 2, doubled(cos), doubled(sin));
        const auto expected = at::scaled_dot_product_attention(q, k, v, {}, 0, causal)
                                  .transpose(1, 2)
                                  .reshape({3, length, 128});
        CHECK(error_of(got, expected) < rounding_of(dtype));
      }
    }
  }
}

namespace {

/// The result and the gradient of qkv; plain ops in double.
std::vector<at::Tensor> attend_plainly(const at::Tensor& qkv, const at::Tensor& cos,
                                       const at::Tensor& sin, bool causal,
                                       const at::Tensor& gradient) {
  auto leaf = qkv.detach().requires_grad_();
  const auto [q, k, v] = split_heads(leaf * 1, 2, cos, sin);
  const auto y = at::scaled_dot_product_attention(q, k, v, {}, 0, causal)
                     .transpose(1, 2)
                     .reshape(gradient.sizes());
  y.backward(gradient);
  return {y.detach(), leaf.grad()};
}

void compare_attend(at::ScalarType dtype, std::int64_t length, bool causal, bool rotates) {
  CAPTURE(dtype);
  CAPTURE(length);
  CAPTURE(causal);
  CAPTURE(rotates);
  at::manual_seed(7);
  const auto qkv = at::randn({3, length, 3 * 2 * 64}).to(dtype);
  const auto gradient = at::randn({3, length, 2 * 64}).to(dtype);
  at::Tensor cos, sin;
  if (rotates) {
    const auto angles = at::randn({length + 3, 32});
    const auto both = at::cat({angles, angles}, -1);
    cos = both.cos();
    sin = both.sin();
  }
  const auto on_card = [](const at::Tensor& x) { return x.defined() ? x.to(*card()) : x; };
  const auto wide = [](const at::Tensor& x) { return x.defined() ? doubled(x) : x; };
  const auto expected = attend_plainly(wide(qkv), wide(cos), wide(sin), causal, wide(gradient));
  auto leaf = on_card(qkv).requires_grad_();
  const auto y = attend(leaf, 2, on_card(cos), on_card(sin), causal);
  REQUIRE(y.defined());
  y.backward(on_card(gradient));
  CHECK(error_of(y.detach(), expected[0]) < rounding_of(dtype));
  CHECK(error_of(leaf.grad(), expected[1]) < 2 * rounding_of(dtype));
}

}  // namespace

TEST_CASE("cuda attend: short sequences' gradients agree with the CPU in double") {
  if (!card()) return;
  for (const auto dtype : {at::kBFloat16, at::kHalf}) {
    for (const std::int64_t length : {97, 81, 116, 128, 16, 33, 5, 1}) {
      for (const bool causal : {false, true}) {
        compare_attend(dtype, length, causal, true);
        compare_attend(dtype, length, causal, false);
      }
    }
  }
}
