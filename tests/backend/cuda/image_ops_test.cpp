// SPDX-License-Identifier: Apache-2.0
// Image ops on NVIDIA cards against the CPU in double, and CUDA graphs.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/backend/cuda/card.h"
#include "ubique/device/numerics.h"
#include "ubique/device/recording.h"
#include "ubique/kernels/conv/convolve2d.h"
#include "ubique/kernels/conv/max_pool.h"
#include "ubique/kernels/dispatch/fused_conv.h"
#include "ubique/models/msinet/net/network.h"
#include "ubique/models/msinet/net/upsample.h"

using namespace ubique;
using namespace ubique::kernels;
using namespace ubique::test;

namespace {

at::Tensor image_on_card(const at::Tensor& host, at::ScalarType dtype) {
  return host.to(dtype).to(*card()).contiguous(at::MemoryFormat::ChannelsLast);
}

/// A function of one tensor and its gradient, on the card and on the CPU in double.
template <typename Function>
void compare_with_host(const at::Tensor& x, const Function& function) {
  auto there = x.detach().requires_grad_();
  auto here = doubled(x.detach()).requires_grad_();
  const auto got = function(there), expected = function(here);
  CHECK(error_of(got.detach(), expected.detach()) < rounding_of(x.scalar_type()));
  at::manual_seed(9);
  const auto gradient = at::randn(expected.sizes());
  got.backward(image_on_card(gradient, x.scalar_type()));
  expected.backward(doubled(gradient.to(x.scalar_type())));
  CHECK(error_of(there.grad(), here.grad()) < rounding_of(x.scalar_type()));
}

/// Disables TF32.
void compute_strictly() { device::apply_numerics(*card(), {.tf32 = false}); }

void compare_convolve(at::ScalarType dtype, std::int64_t in, std::int64_t kernel,
                      std::int64_t dilation) {
  CAPTURE(dtype);
  CAPTURE(in);
  at::manual_seed(8);
  const auto x = image_on_card(at::randn({2, in, 10, 14}), dtype);
  const auto weight = image_on_card(at::randn({16, in, kernel, kernel}), dtype);
  const auto bias = at::randn({16}).to(dtype).to(*card());
  const auto gradient = image_on_card(at::randn({2, 16, 10, 14}), dtype);
  const auto all = [&](bool host) {
    std::vector<at::Tensor> inputs;
    for (const auto& tensor : {x, weight, bias}) {
      inputs.push_back((host ? doubled(tensor) : tensor.clone()).detach().requires_grad_());
    }
    const auto y = convolve2d(inputs[0], inputs[1], inputs[2], dilation, true);
    y.backward(host ? doubled(gradient) : gradient);
    inputs.push_back(y.detach());
    return inputs;
  };
  REQUIRE(fused::does_image_ops(x, 16));
  const auto expected = all(true), got = all(false);
  // A value within rounding of zero may fall on the other side of ReLU's kink.
  CHECK(error_of(got[3], expected[3]) < rounding_of(dtype));
  CHECK(error_of(got[1].grad(), expected[1].grad()) < 4 * rounding_of(dtype));
  CHECK(error_of(got[2].grad(), expected[2].grad()) < 4 * rounding_of(dtype));
}

}  // namespace

TEST_CASE(
    "cuda image ops: upsampling and max pooling agree with the CPU in double, gradients too") {
  if (!card()) return;
  at::manual_seed(7);
  for (const auto dtype : {at::kFloat, at::kHalf, at::kBFloat16}) {
    for (const auto& [height, width] : {std::pair{6, 10}, std::pair{2, 2}, std::pair{34, 14}}) {
      CAPTURE(dtype);
      CAPTURE(height);
      // Multiples of 1/64 are exact in every dtype, so that no maximum depends on rounding.
      const auto x = image_on_card(at::randint(0, 192, {3, 24, height, width}) / 64.0, dtype);
      REQUIRE(fused::does_image_ops(x, 24));
      compare_with_host(x, [](const at::Tensor& y) {
        return msinet::upsample_twice(y, msinet::Upsample::Legacy);
      });
      for (const std::int64_t stride : {1, 2}) {
        const auto distinct =
            x + image_on_card(at::randperm(x[0].numel()).view_as(x[0]).unsqueeze(0) * 1e-7, dtype);
        compare_with_host(dtype == at::kFloat ? distinct.detach() : x,
                          [stride](const at::Tensor& y) { return max_pool(y, stride); });
      }
    }
  }
}

TEST_CASE("cuda image ops: a convolution with ReLU has the gradients of the CPU in double") {
  if (!card()) return;
  compute_strictly();
  for (const auto dtype : {at::kFloat, at::kHalf, at::kBFloat16}) {
    compare_convolve(dtype, 3, 3, 1);
    compare_convolve(dtype, 16, 3, 2);
    compare_convolve(dtype, 24, 1, 1);
  }
}

TEST_CASE(
    "cuda image ops: means, convolution to one channel and range agree with the CPU in double") {
  if (!card()) return;
  at::manual_seed(10);
  const auto image = at::randint(0, 256, {2, 3, 5, 7}, at::kByte);
  const std::vector<double> means = {103.939, 116.779, 123.68};
  const auto expected = image.to(at::kDouble) - at::tensor(means, at::kDouble).view({1, 3, 1, 1});
  for (const auto dtype : {at::kFloat, at::kHalf, at::kBFloat16}) {
    CAPTURE(dtype);
    for (const auto from : {at::kByte, at::kFloat}) {
      const auto got = fused::subtract_means(image.to(from).to(*card()), means, dtype);
      CHECK(got.is_contiguous(at::MemoryFormat::ChannelsLast));
      CHECK(error_of(got, expected) < rounding_of(dtype));
    }
    const auto x = image_on_card(at::randn({2, 32, 6, 9}), dtype);
    const auto weight = at::randn({1, 32, 3, 3}), bias = at::randn({1});
    FrozenConvolution thin(weight.to(*card()), bias.to(*card()), 1, dtype,
                           at::MemoryFormat::ChannelsLast);
    const auto y = thin(x, false);
    CHECK((y.scalar_type() == at::kFloat));  // our kernel: cuDNN's result would have x's dtype
    const auto wanted = at::conv2d(doubled(x), weight.to(at::kDouble), bias.to(at::kDouble), 1, 1);
    CHECK(error_of(y, wanted) < 2e-6);
    const auto range = msinet::min_max(y);
    CHECK(error_of(range, msinet::min_max(doubled(y))) < 1e-6);
  }
}

TEST_CASE("cuda recordings: a replay works on the current contents of its memory") {
  if (!card()) return;
  auto x = at::ones({8}, at::TensorOptions(at::kFloat).device(*card()));
  at::Tensor y;
  const auto recording = device::record(*card(), "a sum", [&] { y = (x * 3).add_(1); });
  REQUIRE(recording != nullptr);
  x.fill_(5);
  recording->replay();
  CHECK(y.sum().item<double>() == 128);
}

TEST_CASE(
    "cuda recordings: work that reads a value on the host is not recorded, and the device stays "
    "usable") {
  if (!card()) return;
  auto x = at::ones({8}, at::TensorOptions(at::kFloat).device(*card()));
  CHECK(device::record(*card(), "a sum that the host reads (this test wants the warning)",
                       [&] { x.sum().item<double>(); }) == nullptr);
  CHECK((x + 1).sum().item<double>() == 16);
}
