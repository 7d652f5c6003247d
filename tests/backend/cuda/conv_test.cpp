// SPDX-License-Identifier: Apache-2.0
// 3D convolution, its weight gradient and norm_act on NVIDIA cards against the CPU in double.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/backend/cuda/card.h"
#include "ubique/kernels/conv/convolve.h"
#include "ubique/kernels/conv/norm_act.h"
#include "ubique/kernels/dispatch/fused_conv.h"

using namespace ubique;
using namespace ubique::kernels;
using namespace ubique::test;

namespace {

at::Tensor on_card(const at::Tensor& host, at::ScalarType dtype) {
  return in_layout(host.to(dtype).to(*card()), at::MemoryFormat::ChannelsLast3d);
}

void compare_norm(at::ScalarType dtype, Activation activation, std::int64_t channels,
                  bool dropout) {
  CAPTURE(dtype);
  CAPTURE(channels);
  CAPTURE(static_cast<int>(activation));
  at::manual_seed(5);
  const auto x = on_card(at::randn({2, channels, 7, 9, 11}) * 2 + 30, dtype);
  const auto gradient = on_card(at::randn({2, channels, 7, 9, 11}), dtype);
  NormAct how{Norm::Batch, activation, 1e-5, at::rand({channels}) + 0.5, at::randn({channels}), {}};
  if (dropout) how.scale = at::randn({2, channels, 1, 1, 1}).gt(0).to(at::kFloat) * 2;
  NormAct host = how;
  for (auto* tensor : {&host.weight, &host.bias, &host.scale}) {
    if (tensor->defined()) *tensor = tensor->to(at::kDouble);
  }
  for (auto* tensor : {&how.weight, &how.bias, &how.scale}) {
    if (tensor->defined()) *tensor = tensor->to(*card());
  }
  REQUIRE(fused::does_norm_act(x));
  NormStatistics expected_statistics, statistics;
  const auto expected = norm_act(doubled(x), host, expected_statistics);
  const auto result = norm_act(x, how, statistics);
  CHECK(error_of(statistics.mean, expected_statistics.mean) < 1e-6);
  CHECK(error_of(statistics.inverse_deviation, expected_statistics.inverse_deviation) < 1e-5);
  CHECK(error_of(result, expected) < rounding_of(dtype));
  CHECK(at::equal(norm_act_recompute(x, how, statistics), result));
  const auto wanted =
      norm_act_backward(doubled(gradient), expected, doubled(x), host, expected_statistics);
  const auto got = norm_act_backward(gradient.clone(), result, x, how, statistics);
  // A value within rounding of the activation's kink may fall on the other side in f32.
  CHECK(error_of(got.input, wanted.input) < 2 * rounding_of(dtype));
  CHECK(error_of(got.weight, wanted.weight) < 2e-5);
  CHECK(error_of(got.bias, wanted.bias) < 2e-5);
}

void compare_weight_gradient(at::ScalarType dtype, std::int64_t channels, std::int64_t dilation,
                             at::IntArrayRef extent) {
  CAPTURE(dtype);
  CAPTURE(channels);
  CAPTURE(dilation);
  CAPTURE(extent[2]);
  at::manual_seed(6);
  const std::vector<std::int64_t> sizes = {2, channels, extent[0], extent[1], extent[2]};
  const auto x = on_card(at::randn(sizes), dtype), gradient = on_card(at::randn(sizes), dtype);
  REQUIRE(fused::does_weight_gradient(gradient, x, 3, dilation));
  const auto weight = at::randn({channels, channels, 3, 3, 3}, at::kDouble);
  const auto expected = convolve_backward(doubled(gradient), doubled(x), weight, dilation, {false});
  const auto got = fused::weight_gradient(gradient, x, dilation);
  CHECK(error_of(got, expected.weight) < 1e-5);
  CHECK(at::equal(fused::weight_gradient(gradient, x, dilation), got));
}

void compare_convolution(at::ScalarType dtype, std::int64_t channels, std::int64_t dilation,
                         at::IntArrayRef extent, bool relu) {
  CAPTURE(dtype);
  CAPTURE(channels);
  CAPTURE(dilation);
  CAPTURE(extent[2]);
  at::manual_seed(7);
  const auto x = on_card(at::randn({2, channels, extent[0], extent[1], extent[2]}), dtype);
  const auto weight = at::randn({channels, channels, 3, 3, 3}).to(dtype).to(*card());
  const auto bias = at::randn({channels}).to(dtype).to(*card());
  REQUIRE(fused::does_convolve(x, weight, dilation));
  auto expected =
      convolve(doubled(x), doubled(weight), relu ? doubled(bias) : at::Tensor(), dilation);
  if (relu) expected = expected.relu();
  const auto added = relu ? std::optional(bias) : std::nullopt;
  const auto got = fused::convolve(x, weight, added, dilation, relu);
  CHECK(got.is_contiguous(at::MemoryFormat::ChannelsLast3d));
  CHECK(error_of(got, expected) < rounding_of(dtype) / 2);
  const auto last = weight.contiguous(at::MemoryFormat::ChannelsLast3d);
  CHECK(at::equal(fused::convolve(x, last, added, dilation, relu), got));
}

}  // namespace

TEST_CASE("cuda conv: norm and activation agree with the CPU in double") {
  if (!card()) return;
  for (const auto dtype : {at::kHalf, at::kBFloat16, at::kFloat}) {
    for (const std::int64_t channels : {8, 24, 32}) {
      compare_norm(dtype, Activation::Relu, channels, false);
    }
    compare_norm(dtype, Activation::Relu, 16, true);
    for (const auto activation :
         {Activation::None, Activation::Elu, Activation::Gelu, Activation::GeluTanh}) {
      compare_norm(dtype, activation, 8, false);
    }
  }
}

TEST_CASE("cuda conv: the weight gradient agrees with the CPU in double") {
  if (!card()) return;
  for (const auto dtype : {at::kHalf, at::kBFloat16}) {
    for (const std::int64_t channels : {8, 16, 24, 32}) {
      for (const std::int64_t dilation : {1, 2, 8}) {
        compare_weight_gradient(dtype, channels, dilation, {5, 11, 37});
      }
    }
    compare_weight_gradient(dtype, 32, 16, {9, 20, 150});
    compare_weight_gradient(dtype, 8, 16, {3, 2, 5});
  }
}

TEST_CASE("cuda conv: a convolution with bias and ReLU agrees with the CPU in double") {
  if (!card()) return;
  for (const auto dtype : {at::kHalf, at::kBFloat16}) {
    for (const std::int64_t channels : {8, 16, 24, 32}) {
      for (const std::int64_t dilation : {1, 2, 8}) {
        compare_convolution(dtype, channels, dilation, {5, 11, 37}, dilation == 2);
      }
    }
    compare_convolution(dtype, 32, 16, {35, 20, 150}, true);
    compare_convolution(dtype, 8, 1, {9, 70, 150}, false);
    compare_convolution(dtype, 8, 16, {3, 2, 5}, false);
  }
}
