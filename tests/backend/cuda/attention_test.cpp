// SPDX-License-Identifier: Apache-2.0
// Attention and rotary embedding on NVIDIA cards, with gradients, against the CPU in double.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/backend/cuda/card.h"
#include "ubique/kernels/decoder/packed_attention.h"
#include "ubique/kernels/mixer/attention.h"
#include "ubique/kernels/mixer/fused_qkv_attention.h"
#include "ubique/nn/layers/attention.h"

using namespace ubique;
using namespace ubique::kernels;
using namespace ubique::test;

namespace {

constexpr std::int64_t kHeads = 2, kWidth = kHeads * 64;

/// The result and the gradient of qkv.
std::vector<at::Tensor> run_heads(const at::Tensor& qkv, const at::Tensor& gradient, bool causal) {
  auto leaf = qkv.detach().requires_grad_();
  const auto [q, k, v] = split_heads(leaf * 1, kHeads, {}, {});
  const auto mixed = attention(q, k, v, causal);
  mixed.backward(gradient);
  return {mixed.detach(), leaf.grad()};
}

/// The result and the gradients of queries, keys and values (B, heads, T, size).
template <typename Attend>
std::vector<at::Tensor> run_packed(const std::vector<at::Tensor>& heads, const at::Tensor& gradient,
                                   const Attend& attend) {
  std::vector<at::Tensor> leaves;
  for (const auto& each : heads) leaves.push_back(each.detach().requires_grad_());
  const auto mixed = attend(leaves[0], leaves[1], leaves[2]);
  mixed.backward(gradient);
  return {mixed.detach(), leaves[0].grad(), leaves[1].grad(), leaves[2].grad()};
}

void compare_packed(std::int64_t key_heads, std::int64_t size, const std::vector<int>& starts,
                    std::int64_t window) {
  constexpr std::int64_t kRows = 2, kLength = 100, kQueryHeads = 4;
  at::manual_seed(10);
  const auto random = [&](std::int64_t heads) {
    return at::randn({kRows, heads, kLength, size}).to(at::kBFloat16);
  };
  const std::vector<at::Tensor> heads = {random(kQueryHeads), random(key_heads), random(key_heads)};
  const auto gradient = random(kQueryHeads);
  auto numbers = at::zeros({kRows * kLength}, at::kLong);
  for (const auto start : starts) numbers.slice(0, start).add_(1);
  const auto mask = nn::document_mask(numbers.view({kRows, kLength}), window);
  const auto expected =
      run_packed({doubled(heads[0]), doubled(heads[1]), doubled(heads[2])}, doubled(gradient),
                 [&](const auto& q, const auto& k, const auto& v) {
                   return nn::masked_attention(q, k, v, mask);
                 });
  const bool whole_rows = starts == std::vector<int>{0, kLength, kRows * kLength};
  const auto offsets = whole_rows ? at::Tensor() : at::tensor(starts, at::kInt).to(*card());
  const auto got =
      run_packed({heads[0].to(*card()), heads[1].to(*card()), heads[2].to(*card())},
                 gradient.to(*card()), [&](const auto& q, const auto& k, const auto& v) {
                   return packed_attention(q, k, v, offsets, window);
                 });
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(error_of(got[i], expected[i]) < 2 * rounding_of(at::kBFloat16));
  }
}

}  // namespace

TEST_CASE("cuda packed attention: whole rows and documents of any length agree with a mask") {
  if (!card() || !does_packed_attention(
                     at::empty({1, 4, 1, 64}, at::TensorOptions(at::kBFloat16).device(*card())))) {
    return;
  }
  for (const std::int64_t key_heads : {1, 2, 4}) {
    for (const std::int64_t size : {64, 128}) {
      for (const std::int64_t window : {0, 30}) {
        CAPTURE(key_heads);
        CAPTURE(size);
        CAPTURE(window);
        compare_packed(key_heads, size, {0, 100, 200}, window);
        compare_packed(key_heads, size, {0, 17, 100, 101, 200, 200, 200}, window);
      }
    }
  }
}

TEST_CASE("cuda attention: gradients of long sequences agree with the CPU in double") {
  if (!card()) return;
  for (const std::int64_t length : {129, 200, 900, 916}) {
    for (const bool causal : {false, true}) {
      CAPTURE(length);
      CAPTURE(causal);
      at::manual_seed(8);
      const auto qkv = at::randn({3, length, 3 * kWidth}).to(at::kBFloat16);
      const auto gradient = at::randn({3, length, kWidth}).to(at::kBFloat16);
      const auto expected = run_heads(doubled(qkv), doubled(gradient), causal);
      const auto got = run_heads(qkv.to(*card()), gradient.to(*card()), causal);
      CHECK(error_of(got[0], expected[0]) < rounding_of(at::kBFloat16));
      CHECK(error_of(got[1], expected[1]) < 2 * rounding_of(at::kBFloat16));
    }
  }
}

// The kernel first assumes that the first keys' scores bound the others; here they do not.
TEST_CASE("cuda attention: keys that exceed the first ones beyond f32's range are handled") {
  if (!card()) return;
  for (const bool causal : {false, true}) {
    CAPTURE(causal);
    at::manual_seed(9);
    auto qkv = at::randn({40, 916, 3, kHeads, 64});
    qkv.slice(1, 300).select(2, 1).mul_(60);
    qkv = qkv.view({40, 916, 3 * kWidth}).to(at::kBFloat16);
    const auto got = fused_qkv_attention(qkv.to(*card()), kHeads, {}, {}, causal);
    if (!got.defined()) return;  // not Hopper
    const auto [q, k, v] = split_heads(doubled(qkv), kHeads, {}, {});
    CHECK(error_of(got, attention(q, k, v, causal)) < rounding_of(at::kBFloat16));
  }
}

TEST_CASE("cuda attention: rotary embedding and its gradient agree with the CPU in double") {
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

TEST_CASE("cuda attention: sequences agree with the CPU in double, causal or not") {
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
        const auto got =
            fused_qkv_attention(qkv.to(*card()), 2, cos.to(*card()), sin.to(*card()), causal);
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
std::vector<at::Tensor> plain_attention(const at::Tensor& qkv, const at::Tensor& cos,
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

void compare_attention(at::ScalarType dtype, std::int64_t length, bool causal, bool rotates) {
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
  const auto expected = plain_attention(wide(qkv), wide(cos), wide(sin), causal, wide(gradient));
  auto leaf = on_card(qkv).requires_grad_();
  const auto y = fused_qkv_attention(leaf, 2, on_card(cos), on_card(sin), causal);
  REQUIRE(y.defined());
  y.backward(on_card(gradient));
  CHECK(error_of(y.detach(), expected[0]) < rounding_of(dtype));
  CHECK(error_of(leaf.grad(), expected[1]) < 2 * rounding_of(dtype));
}

}  // namespace

TEST_CASE("cuda attention: gradients of short sequences agree with the CPU in double") {
  if (!card()) return;
  for (const auto dtype : {at::kBFloat16, at::kHalf}) {
    for (const std::int64_t length : {97, 81, 116, 128, 16, 33, 5, 1}) {
      for (const bool causal : {false, true}) {
        compare_attention(dtype, length, causal, true);
        compare_attention(dtype, length, causal, false);
      }
    }
  }
}
