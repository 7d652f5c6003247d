// SPDX-License-Identifier: Apache-2.0
// The plain attention, which devices without their own kernel use, against the formula.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <cmath>

#include "ubique/kernels/mixer/attention.h"

using namespace ubique::kernels;

TEST_CASE("attention: softmax of scaled scores times values, heads side by side") {
  for (const bool causal : {false, true}) {
    CAPTURE(causal);
    at::manual_seed(4);
    std::vector<at::Tensor> parts, others;  // (2, 3, 7, 8) each
    for (int i = 0; i < 3; ++i) {
      parts.push_back(at::randn({2, 3, 7, 8}, at::kDouble).requires_grad_());
      others.push_back(parts.back().detach().clone().requires_grad_());
    }
    const auto mixed = attention(parts[0], parts[1], parts[2], causal);
    auto scores = at::matmul(others[0], others[1].transpose(2, 3)) / std::sqrt(8.0);
    if (causal) scores = scores.masked_fill(at::ones({7, 7}, at::kBool).triu(1), -INFINITY);
    const auto wanted =
        at::matmul(scores.softmax(-1), others[2]).transpose(1, 2).reshape({2, 7, 24});
    CHECK(at::allclose(mixed, wanted, 1e-9, 1e-12));
    const auto gradient = at::randn_like(wanted);
    mixed.backward(gradient);
    wanted.backward(gradient);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(at::allclose(parts[i].grad(), others[i].grad(), 1e-9, 1e-12));
    }
  }
}
