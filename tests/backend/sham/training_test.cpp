// SPDX-License-Identifier: Apache-2.0
// Training on the pretend device, through the code that a Mac would run.
#include <ATen/autocast_mode.h>
#include <c10/core/InferenceMode.h>
#include <doctest/doctest.h>
#include <torch/nn/module.h>

#include <thread>

#include "device.h"

using namespace ubique::test;

namespace {

/// Two dilated 3D convolutions around a batch norm, as in a small segmentation network.
struct SmallNet : torch::nn::Module {
  SmallNet() {
    first = register_parameter("first", values({4, 1, 3, 3, 3}, 1) * 0.3);
    scale = register_parameter("scale", at::ones({4}));
    shift = register_parameter("shift", at::zeros({4}));
    last = register_parameter("last", values({2, 4, 1, 1, 1}, 2));
    mean = register_buffer("mean", at::zeros({4}));
    variance = register_buffer("variance", at::ones({4}));
  }
  at::Tensor loss(const at::Tensor& x, const at::Tensor& y) {
    auto h = at::conv3d(x, first, {}, 1, 2, 2);  // (B, 4, D, H, W)
    h = at::batch_norm(h, scale, shift, mean, variance, true, 0.1, 1e-5, false).relu();
    return at::cross_entropy_loss(at::conv3d(h, last), y);
  }
  at::Tensor first, scale, shift, last, mean, variance;
};

struct Sample {
  at::Tensor x = values({2, 1, 8, 8, 8}, 3);
  at::Tensor y = (values({2, 8, 8, 8}, 4) > 0).to(at::kLong);
};

void step(SmallNet& net) {
  const c10::NoGradGuard no_grad;
  for (auto& parameter : net.parameters()) {
    parameter.sub_(parameter.grad(), 0.1);
    parameter.mutable_grad().zero_();
  }
}

}  // namespace

TEST_CASE("sham: a small 3D net trains with no difference to the CPU, gradient by gradient") {
  const auto device = sham_device();
  const Sample sample;
  SmallNet here, there;
  there.to(device);
  CHECK(there.mean.device() == device);
  for (int i = 0; i < 5; ++i) {
    here.loss(sample.x, sample.y).backward();
    there.loss(sample.x.to(device), sample.y.to(device)).backward();
    for (const auto& item : here.named_parameters()) {
      CAPTURE(item.key());
      CHECK(at::equal(item->grad(), there.named_parameters()[item.key()].grad().cpu()));
    }
    step(here);
    step(there);
  }
  CHECK(at::equal(here.mean, there.mean.cpu()));
}

TEST_CASE("sham: training under autocast keeps parameters in float32 and computes in half") {
  const auto device = sham_device();
  const Sample sample;
  for (const auto dtype : {at::kBFloat16, at::kHalf}) {
    SmallNet net;
    net.to(device);
    at::autocast::set_autocast_dtype(device.type(), dtype);
    at::autocast::set_autocast_enabled(device.type(), true);
    const auto hidden = at::conv3d(sample.x.to(device), net.first);
    const auto loss = net.loss(sample.x.to(device), sample.y.to(device));
    at::autocast::set_autocast_enabled(device.type(), false);
    at::autocast::clear_cache();
    CHECK((hidden.scalar_type() == dtype));
    loss.backward();
    CHECK((net.first.grad().scalar_type() == at::kFloat));
    CHECK(net.first.grad().abs().max().item<float>() > 0);
  }
}

TEST_CASE("sham: backward from several threads gives each its own gradients") {
  const auto device = sham_device();
  const Sample sample;
  SmallNet reference;
  reference.loss(sample.x, sample.y).backward();
  std::vector<std::thread> threads;
  std::vector<at::Tensor> gradients(3);
  for (auto& gradient : gradients) {
    threads.emplace_back([&] {
      SmallNet net;
      net.to(device);
      net.loss(sample.x.to(device), sample.y.to(device)).backward();
      gradient = net.first.grad().cpu();
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& gradient : gradients) CHECK(at::allclose(gradient, reference.first.grad()));
}

TEST_CASE("sham: inference mode gives the same numbers as training mode") {
  const auto device = sham_device();
  const Sample sample;
  SmallNet net;
  net.to(device);
  const auto expected = net.loss(sample.x.to(device), sample.y.to(device)).item<float>();
  const c10::InferenceMode inference;
  CHECK(net.loss(sample.x.to(device), sample.y.to(device)).item<float>() == expected);
}

TEST_CASE("sham: an operation in place on a leaf that needs a gradient is refused as elsewhere") {
  const auto device = sham_device();
  auto leaf = at::ones({2}, device).requires_grad_();
  CHECK(error_of([&] { leaf.add_(1); }) != "");
  auto square = leaf * leaf;
  square.view({1, 2}).mul_(3);
  square.sum().backward();
  CHECK(leaf.grad().cpu()[0].item<float>() == 6);
}
