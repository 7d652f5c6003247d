// SPDX-License-Identifier: Apache-2.0
// Gradient checkpointing gives the same numbers, bit by bit, as saving all activations.
#include "ubique/engine/step/recompute.h"

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include "tests/engine/toy.h"
#include "ubique/device/runtime.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/step/autocast.h"

using namespace ubique;
using namespace ubique::engine;
using namespace ubique::test;

namespace {

struct Outcome {
  at::Tensor output, input_gradient, after;
  NamedTensors gradients, buffers;
};

/// One training pass of the toy network with dropout and batch norm.
Outcome pass(bool recomputed, const AutocastState& state, bool input_needs_gradient = true) {
  const auto device = kDevice;
  ToyModel model;
  model.initialize(Random(4));
  model.network().to(device);
  model.toy().recomputed = recomputed;
  device::manual_seed(device, 8);
  auto x = at::linspace(-1, 2, 60).reshape({10, 6}).to(device);
  x.requires_grad_(input_needs_gradient);
  Outcome outcome;
  {
    const Autocast autocast(device.type(), state);
    outcome.output = model.toy().forward(x);
  }
  outcome.output.to(at::kFloat).square().sum().backward();
  outcome.input_gradient = x.grad();
  for (auto& [name, parameter] : trainable_parameters(model.network())) {
    outcome.gradients.emplace_back(name, parameter.grad());
  }
  for (auto& [name, buffer] : running_statistics(model.network())) {
    outcome.buffers.emplace_back(name, buffer.clone());
  }
  outcome.after = at::rand({4}, at::TensorOptions().device(device));
  return outcome;
}

void check_equal(const Outcome& a, const Outcome& b) {
  CHECK(at::equal(a.output, b.output));
  CHECK(at::equal(a.after, b.after));  // the generator went on as if nothing had been repeated
  REQUIRE(a.input_gradient.defined() == b.input_gradient.defined());
  if (a.input_gradient.defined()) CHECK(at::equal(a.input_gradient, b.input_gradient));
  for (std::size_t i = 0; i < a.gradients.size(); ++i) {
    CAPTURE(a.gradients[i].first);
    REQUIRE(b.gradients[i].second.defined());
    CHECK(at::equal(a.gradients[i].second, b.gradients[i].second));
  }
  for (std::size_t i = 0; i < a.buffers.size(); ++i) {
    CAPTURE(a.buffers[i].first);
    CHECK(at::equal(a.buffers[i].second, b.buffers[i].second));
  }
}

}  // namespace

TEST_CASE("recompute: outputs, gradients, dropout masks and statistics are bit-equal") {
  check_equal(pass(false, {}), pass(true, {}));
}

TEST_CASE("recompute: parameters get gradients where no input needs one") {
  check_equal(pass(false, {}, false), pass(true, {}, false));
}

TEST_CASE("recompute: under autocast the second pass computes in the same dtype") {
  const AutocastState half{true, at::kBFloat16, true};
  const auto kept = pass(false, half), again = pass(true, half);
  CHECK((kept.output.scalar_type() == at::kBFloat16));
  check_equal(kept, again);
  CHECK_FALSE(at::equal(kept.output, pass(false, {}).output.to(at::kBFloat16)));
}

TEST_CASE("recompute: a weight used inside and outside under autocast gets both gradients") {
  const auto device = kDevice;
  auto weight = at::linspace(-1, 1, 16).reshape({4, 4}).to(device).requires_grad_();
  const auto x = at::ones({2, 4}).to(device);
  const AutocastState half{true, at::kBFloat16, true};
  const auto gradient = [&](bool recomputed) {
    weight.mutable_grad().reset();
    at::Tensor y;
    {
      const Autocast autocast(device.type(), half);
      const auto inside = [&](const std::vector<at::Tensor>& in) {
        return at::matmul(in[0], weight).tanh();
      };
      y = recomputed ? recompute(inside, {x}) : inside({x});
      y = at::matmul(y, weight);
    }
    y.to(at::kFloat).sum().backward();
    return weight.grad().clone();
  };
  const auto kept = gradient(false), again = gradient(true);
  CHECK((kept - again).abs().max().item<float>() <= 0.01 * kept.abs().max().item<float>());
}

TEST_CASE("recompute: it is off without gradient, and nests") {
  const auto device = kDevice;
  const auto x = at::ones({3}).to(device).requires_grad_();
  int calls = 0, second = 0;
  const auto inner = [&](const std::vector<at::Tensor>& in) {
    ++calls;
    if (recomputing()) ++second;
    return in[0] * in[0];
  };
  {
    const c10::NoGradGuard no_gradients;
    CHECK_FALSE(recompute(inner, {x}).requires_grad());
    CHECK(calls == 1);
  }
  const auto outer = [&](const std::vector<at::Tensor>& in) { return recompute(inner, in) * 3; };
  recompute(outer, {x}).sum().backward();
  CHECK(at::equal(x.grad(), at::full_like(x, 6)));
  CHECK(second >= 1);
  CHECK_FALSE(recomputing());
}
