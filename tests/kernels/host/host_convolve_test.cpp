// SPDX-License-Identifier: Apache-2.0
// The CPU convolution of whole volumes and its gradients against torch's, in odd shapes.
#include "ubique/kernels/host/host_convolve.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <doctest/doctest.h>

#include "ubique/kernels/conv/convolve.h"

using namespace ubique::kernels;

namespace {

struct VolumeCase {
  std::int64_t batch, in, out, kernel, dilation, depth, height, width;
};

double worst(const at::Tensor& ours, const at::Tensor& exact) {
  if (ours.sizes() != exact.sizes()) return 1e30;
  return (ours - exact).abs().max().item<double>() / exact.abs().max().item<double>();
}

void compare_with_torch(const VolumeCase& c, at::MemoryFormat layout) {
  at::manual_seed(9);
  const auto options = at::TensorOptions(at::kDouble);
  const auto x = at::randn({c.batch, c.in, c.depth, c.height, c.width}, options);
  const auto weight = at::randn({c.out, c.in, c.kernel, c.kernel, c.kernel}, options);
  const auto bias = at::randn({c.out}, options);
  const auto reach = c.dilation * (c.kernel / 2);
  auto image = x.clone().requires_grad_(), kernel = weight.clone().requires_grad_();
  const auto expected = at::conv3d(image, kernel, bias, 1, reach, c.dilation);
  const auto gradient = at::randn_like(expected);
  expected.backward(gradient);

  const auto f = [&](const at::Tensor& t) {
    return t.to(at::kFloat).contiguous(t.dim() == 5 ? layout : at::MemoryFormat::Contiguous);
  };
  REQUIRE(suits_host_convolve(f(x), f(weight)));
  INFO(c.in << " to " << c.out << ", kernel " << c.kernel << ", dilation " << c.dilation << ", "
            << c.depth << "x" << c.height << "x" << c.width);
  CHECK(worst(convolve(f(x), f(weight), f(bias), c.dilation), expected) < 1e-5);
  const auto ours = convolve_backward(f(gradient), f(x), f(weight), c.dilation, {true, true});
  CHECK(worst(ours.input, image.grad()) < 1e-5);
  CHECK(worst(ours.weight, kernel.grad()) < 1e-5);
  CHECK(worst(ours.bias, gradient.sum({0, 2, 3, 4})) < 1e-5);
}

}  // namespace

TEST_CASE("host convolve: forward and gradients are torch's in odd shapes") {
  for (const VolumeCase& c : std::vector<VolumeCase>{{1, 1, 5, 3, 1, 9, 10, 11},
                                                     {2, 5, 5, 3, 2, 7, 9, 17},
                                                     {1, 3, 4, 3, 4, 9, 12, 33},
                                                     {1, 2, 3, 3, 16, 40, 20, 36},
                                                     {1, 2, 3, 3, 16, 3, 5, 2},
                                                     {1, 7, 13, 3, 3, 8, 6, 20},
                                                     {1, 26, 26, 3, 2, 6, 7, 19},
                                                     {2, 3, 2, 1, 1, 5, 4, 9},
                                                     {1, 2, 3, 5, 2, 10, 11, 23},
                                                     {1, 2, 2, 7, 1, 8, 9, 10},
                                                     {1, 4, 6, 3, 1, 1, 1, 1},
                                                     {1, 2, 2, 3, 1, 2, 600, 5}}) {
    compare_with_torch(c, at::MemoryFormat::Contiguous);
    compare_with_torch(c, at::MemoryFormat::ChannelsLast3d);
  }
}

TEST_CASE("host convolve: the number of threads does not change the forward pass") {
  const auto options = at::TensorOptions(at::kFloat);
  at::manual_seed(10);
  const auto x = at::randn({1, 5, 12, 13, 14}, options), w = at::randn({5, 5, 3, 3, 3}, options);
  const auto threads = at::get_num_threads();
  const auto many = host_convolve(x, w, {}, 2);
  at::set_num_threads(1);
  const auto one = host_convolve(x, w, {}, 2);
  const auto gradient = host_weight_gradient(one, x, w, 2);
  at::set_num_threads(threads);
  CHECK(at::equal(one, many));
  CHECK(worst(host_weight_gradient(many, x, w, 2), gradient) < 1e-6);
}

TEST_CASE("host convolve: other dtypes and very wide layers are left to torch") {
  const auto x = at::zeros({1, 3, 4, 4, 4}), w = at::zeros({3, 3, 3, 3, 3});
  CHECK(suits_host_convolve(x, w));
  CHECK_FALSE(suits_host_convolve(x.to(at::kDouble), w.to(at::kDouble)));
  CHECK_FALSE(suits_host_convolve(x.to(at::kBFloat16), w.to(at::kBFloat16)));
  CHECK_FALSE(suits_host_convolve(x, at::zeros({3, 3, 9, 9, 9})));
  CHECK_FALSE(suits_host_convolve(at::zeros({1, 300, 2, 2, 2}), at::zeros({3, 300, 3, 3, 3})));
}
