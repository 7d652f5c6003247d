// SPDX-License-Identifier: Apache-2.0
// A convolution as a product against LibTorch's.
#include "ubique/models/acestep/net/codec/conv_product.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/device.h"
#include "tests/tensors.h"

using namespace ubique;
using test::distance, test::random_tensor;

TEST_CASE("acestep: a convolution as a product is the convolution, dilated or not, in any layout") {
  const auto weight = random_tensor({6, 4, 5}, 1).to(test::kDevice);
  const auto bias = random_tensor({6}, 2).to(test::kDevice);
  const auto x = random_tensor({2, 4, 1, 19}, 3).to(test::kDevice);
  for (const std::int64_t dilation : {1, 3}) {
    for (const bool last : {false, true}) {
      CAPTURE(dilation);
      CAPTURE(last);
      const auto input = last ? x.contiguous(at::MemoryFormat::ChannelsLast) : x;
      for (const auto& own : {bias, at::Tensor()}) {
        const auto expected =
            at::conv2d(x, weight.unsqueeze(2), own, at::IntArrayRef{1, 1},
                       at::IntArrayRef{0, 2 * dilation}, at::IntArrayRef{1, dilation});
        const auto made = acestep::conv_product(input, {weight, own}, dilation);
        CHECK(made.is_contiguous(at::MemoryFormat::ChannelsLast));
        CHECK(distance(made, expected) < 1e-4);
      }
    }
  }
}

TEST_CASE("acestep: products are preferred where cuDNN is slow: many channels in f16") {
  const auto weight = [](std::int64_t channels, std::int64_t taps, at::ScalarType dtype) {
    return at::empty({8, channels, taps}, at::TensorOptions(at::kMeta).dtype(dtype));
  };
  CHECK(acestep::prefers_product(weight(512, 13, at::kHalf)));
  CHECK_FALSE(acestep::prefers_product(weight(256, 13, at::kHalf)));
  CHECK_FALSE(acestep::prefers_product(weight(512, 13, at::kFloat)));
}
