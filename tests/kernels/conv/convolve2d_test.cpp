// SPDX-License-Identifier: Apache-2.0
// 2D convolutions with frozen weights, packed or not, and max pooling against torch's ops.
#include "ubique/kernels/conv/convolve2d.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "ubique/kernels/conv/convolve_relu.h"
#include "ubique/kernels/conv/max_pool.h"
#include "ubique/kernels/host/host_packed.h"

using namespace ubique::kernels;

namespace {

struct Layer {
  at::Tensor weight, bias;
  std::int64_t dilation;

  at::Tensor expected(const at::Tensor& x, bool relu) const {
    const auto y = at::conv2d(x.to(at::kDouble), weight.to(at::kDouble), bias.to(at::kDouble), 1,
                              dilation * (weight.size(2) / 2), dilation);
    return relu ? y.relu() : y;
  }
};

Layer random_layer(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t dilation) {
  return {at::randn({out, in, kernel, kernel}), at::randn({out}), dilation};
}

double share_off(const at::Tensor& got, const at::Tensor& expected) {
  return ((got.to(at::kDouble) - expected).abs().max() / expected.abs().max()).item<double>();
}

}  // namespace

TEST_CASE("convolve_relu: images as well as volumes") {
  at::manual_seed(3);
  const auto layer = random_layer(3, 5, 3, 2);
  const auto x = at::randn({2, 3, 9, 11});
  const auto y = convolve_relu(x, layer.weight, layer.bias, {2, 2}, 2);
  CHECK(share_off(y, layer.expected(x, true)) < 1e-6);
  const auto half = convolve_relu(x.to(at::kBFloat16), layer.weight.to(at::kBFloat16),
                                  layer.bias.to(at::kBFloat16), {2, 2}, 2);
  CHECK((half.scalar_type() == at::kBFloat16));
  CHECK(share_off(half, layer.expected(x, true)) < 2e-2);
}

TEST_CASE("frozen convolutions: layouts, dtypes and image sizes, one after the other") {
  at::manual_seed(4);
  for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    for (const auto dtype : {at::kFloat, at::kBFloat16, at::kDouble}) {
      for (const std::int64_t kernel : {1, 3}) {
        const auto layer = random_layer(6, 4, kernel, kernel);
        FrozenConvolution frozen(layer.weight, layer.bias, layer.dilation, dtype, format);
        for (const std::int64_t side : {7, 12, 7}) {  // repacked for another size
          const auto x = at::randn({2, 6, side, side + 3}).to(dtype).contiguous(format);
          for (const bool relu : {false, true}) {
            const auto y = frozen(x, relu);
            CHECK((y.scalar_type() == dtype));
            CHECK(share_off(y, layer.expected(x, relu)) < (dtype == at::kBFloat16 ? 2e-2 : 1e-5));
          }
        }
      }
    }
  }
}

TEST_CASE("frozen convolutions: without a bias") {
  at::manual_seed(5);
  auto layer = random_layer(4, 4, 1, 1);
  layer.bias.zero_();
  const auto x = at::randn({1, 4, 5, 6});
  FrozenConvolution frozen(layer.weight, {}, 1, at::kFloat, at::MemoryFormat::Contiguous);
  CHECK(share_off(frozen(x, false), layer.expected(x, false)) < 1e-6);
}

TEST_CASE("packed weights: only dtypes that oneDNN computes in") {
  CHECK_FALSE(packs_on_host(at::zeros({1, 1, 1, 1}, at::kDouble)));
  CHECK_FALSE(packs_on_host(at::zeros({1, 1, 1, 1}, at::kHalf)));
}

TEST_CASE("max pooling: stride 2, and stride 1 with windows cut at the edges") {
  at::manual_seed(6);
  const auto x = at::rand({2, 3, 6, 8}, at::kDouble).requires_grad_();
  const auto halved = max_pool(x, 2), kept = max_pool(x, 1);
  CHECK(halved.sizes() == at::IntArrayRef({2, 3, 3, 4}));
  CHECK(kept.sizes() == x.sizes());
  for (int row = 0; row < 6; ++row) {
    for (int column = 0; column < 8; ++column) {
      const auto window =
          x.detach().slice(2, row, row + 2).slice(3, column, column + 2).amax({2, 3});
      CHECK(at::equal(kept.detach().select(2, row).select(2, column), window));
      if (row % 2 > 0 || column % 2 > 0) continue;
      CHECK(at::equal(halved.detach().select(2, row / 2).select(2, column / 2), window));
    }
  }
  // Each maximum passes its whole gradient to one input.
  kept.sum().backward();
  CHECK(x.grad().sum().item<double>() == doctest::Approx(static_cast<double>(x.numel())));
}
