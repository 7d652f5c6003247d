// SPDX-License-Identifier: Apache-2.0
// Attention of long sequences on NVIDIA cards, and its gradients, against the CPU in double.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/backend/cuda/card.h"
#include "ubique/kernels/mixer/attention.h"
#include "ubique/kernels/mixer/fused_qkv_attention.h"

using namespace ubique;
using namespace ubique::kernels;
using namespace ubique::test;

namespace {

constexpr std::int64_t kHeads = 2, kWidth = kHeads * 64;

/// The result and the gradient of qkv.
std::vector<at::Tensor> run_heads(const at::Tensor& qkv, const at::Tensor& gradient, bool causal) {
  auto leaf = qkv.detach().requires_grad_();
  const auto [q, k, v] = split_heads(leaf * 1, kHeads, {}, {});
  const auto mixed = mix_heads(q, k, v, causal);
  mixed.backward(gradient);
  return {mixed.detach(), leaf.grad()};
}

}  // namespace

TEST_CASE("cuda flash: gradients of long sequences agree with the CPU in double") {
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

// The kernel trusts the first keys to be about as large as any; here they are not.
TEST_CASE("cuda flash: keys that exceed the first ones beyond f32's range are attended to") {
  if (!card()) return;
  for (const bool causal : {false, true}) {
    CAPTURE(causal);
    at::manual_seed(9);
    auto qkv = at::randn({40, 916, 3, kHeads, 64});
    qkv.slice(1, 300).select(2, 1).mul_(60);
    qkv = qkv.view({40, 916, 3 * kWidth}).to(at::kBFloat16);
    const auto got = attend(qkv.to(*card()), kHeads, {}, {}, causal);
    if (!got.defined()) return;  // not Hopper
    const auto [q, k, v] = split_heads(doubled(qkv), kHeads, {}, {});
    CHECK(error_of(got, mix_heads(q, k, v, causal)) < rounding_of(at::kBFloat16));
  }
}
