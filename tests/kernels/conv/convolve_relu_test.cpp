// SPDX-License-Identifier: Apache-2.0
// The op convolve_relu against its three steps, and in_layout.
#include "ubique/kernels/conv/convolve_relu.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "ubique/kernels/conv/convolve.h"

namespace ubique::kernels {

TEST_CASE("convolve_relu: the op is the three steps one after the other, bias or not") {
  const auto x = at::randn({2, 3, 7, 6, 9}), weight = at::randn({4, 3, 3, 3, 3});
  const auto bias = at::randn({4});
  for (const bool with_bias : {true, false}) {
    const auto given = with_bias ? std::optional(bias) : std::nullopt;
    const auto expected = at::conv3d(x, weight, given, 1, 2, 2).relu();
    CHECK(at::allclose(convolve_relu(x, weight, given, {2, 2, 2}, 2), expected, 1e-5, 1e-5));
  }
}

TEST_CASE("convolve_relu: depth may be left without padding") {
  const auto x = at::randn({1, 2, 9, 5, 5}), weight = at::randn({2, 2, 3, 3, 3});
  const auto y = convolve_relu(x, weight, std::nullopt, {0, 2, 2}, 2);
  CHECK(y.sizes() == at::IntArrayRef({1, 2, 5, 5, 5}));
  const auto whole = at::conv3d(x, weight, {}, 1, 2, 2).relu();
  CHECK(at::allclose(y, whole.narrow(2, 2, 5), 1e-5, 1e-5));
}

TEST_CASE("convolve_relu: half precision adds the bias separately and keeps the dtype") {
  const auto x = at::randn({1, 2, 5, 5, 5}).to(at::kBFloat16);
  const auto weight = at::randn({3, 2, 3, 3, 3}).to(at::kBFloat16);
  const auto bias = at::randn({3}).to(at::kBFloat16);
  const auto y = convolve_relu(x, weight, bias, {1, 1, 1}, 1);
  CHECK((y.scalar_type() == at::kBFloat16));
  const auto expected =
      at::conv3d(x.to(at::kFloat), weight.to(at::kFloat), bias.to(at::kFloat), 1, 1).relu();
  CHECK(at::allclose(y.to(at::kFloat), expected, 0.05, 0.1));
}

TEST_CASE("in_layout: a single channel gets channels-last strides, and the next layer keeps them") {
  const auto x = at::randn({1, 1, 4, 5, 6});
  const auto y = in_layout(x, at::MemoryFormat::ChannelsLast3d);
  CHECK(y.equal(x));
  CHECK((y.suggest_memory_format() == at::MemoryFormat::ChannelsLast3d));
  CHECK((in_layout(x, at::MemoryFormat::Contiguous).suggest_memory_format() ==
         at::MemoryFormat::Contiguous));
}

}  // namespace ubique::kernels
