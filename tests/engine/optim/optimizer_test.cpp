// SPDX-License-Identifier: Apache-2.0
// Optimizers against a plain loop in double precision.
#include "ubique/engine/optim/optimizer.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/base/scratch.h"
#include "ubique/base/numbers/random.h"
#include "ubique/plan/needs.h"

using namespace ubique;
using namespace ubique::engine;

namespace {

at::Tensor normal_values(std::uint64_t stream, at::IntArrayRef shape) {
  auto tensor = at::empty(shape);
  Random(3, stream).fill_normal({tensor.data_ptr<float>(), size_t(tensor.numel())});
  return tensor;
}

NamedTensors some_parameters() {
  return {{"conv.weight", normal_values(1, {4, 3, 2, 5}).requires_grad_()},
          {"norm.bias", normal_values(2, {7}).requires_grad_()},
          {"unused", normal_values(3, {2}).requires_grad_()}};
}

void set_gradients(const NamedTensors& parameters, std::uint64_t step) {
  for (std::size_t i = 0; i < 2; ++i) {
    at::Tensor parameter = parameters[i].second;
    parameter.mutable_grad() = normal_values(100 + 10 * step + i, parameter.sizes()) * 0.3;
  }
}

Rates rates_at(int step) {
  if (step % 2 == 0) return {0.01, {}};
  return {0.01 / (1 + step), 0.95 - 0.02 * step};
}

void make_step(Optimizer& optimizer, const Rates& rates, const at::Tensor& bad) {
  optimizer.prepare(rates);
  optimizer.step(bad);
}

/// Textbook AdamW on one tensor, in double.
struct AdamWLoop {
  at::Tensor weight, mean, square;
  double count = 0;

  explicit AdamWLoop(const at::Tensor& start)
      : weight(start.detach().to(at::kDouble, false, true)),
        mean(at::zeros_like(weight)),
        square(at::zeros_like(weight)) {}
  void step(const at::Tensor& g, const OptimizerOptions& o, const Rates& rates) {
    const double beta1 = rates.momentum.value_or(o.beta1);
    count += 1;
    mean = mean * beta1 + g * (1 - beta1);
    square = square * o.beta2 + g * g * (1 - o.beta2);
    const auto m = mean / (1 - std::pow(beta1, count));
    const auto v = square / (1 - std::pow(o.beta2, count));
    weight = weight * (1 - rates.lr * o.weight_decay) - rates.lr * m / (v.sqrt() + o.eps);
  }
};

/// Adam as TensorFlow 1 documents it: lr_t = lr sqrt(1 - b2^t) / (1 - b1^t), and eps ("epsilon
/// hat") added to the root before bias correction.
struct Tf1Loop : AdamWLoop {
  using AdamWLoop::AdamWLoop;
  void step(const at::Tensor& g, const OptimizerOptions& o, const Rates& rates) {
    const double beta1 = rates.momentum.value_or(o.beta1);
    count += 1;
    mean = mean * beta1 + g * (1 - beta1);
    square = square * o.beta2 + g * g * (1 - o.beta2);
    const double lr =
        rates.lr * std::sqrt(1 - std::pow(o.beta2, count)) / (1 - std::pow(beta1, count));
    weight = weight - lr * mean / (square.sqrt() + o.eps);
  }
};

struct SgdLoop {
  at::Tensor weight, velocity;

  explicit SgdLoop(const at::Tensor& start)
      : weight(start.detach().to(at::kDouble, false, true)), velocity(at::zeros_like(weight)) {}
  void step(at::Tensor g, const OptimizerOptions& o, const Rates& rates) {
    const double momentum = rates.momentum.value_or(o.momentum);
    g = g + o.weight_decay * weight;
    if (o.momentum > 0) {
      velocity = momentum * velocity + g;
      g = o.nesterov ? g + momentum * velocity : velocity;
    }
    weight = weight - rates.lr * g;
  }
};

double distance(const at::Tensor& a, const at::Tensor& b) {
  return (a.detach().to(at::kDouble) - b.detach().to(at::kDouble)).abs().max().item<double>();
}

/// Six updates, the first and the fourth of which are skipped with NaN gradients.
template <typename Loop>
void compare_with(const OptimizerOptions& options, bool fused) {
  auto parameters = some_parameters();
  const auto unused = parameters[2].second.detach().clone();
  const auto optimizer = make_optimizer(options, parameters, fused);
  Loop first(parameters[0].second), second(parameters[1].second);
  const auto good = at::zeros({}), bad = at::ones({});
  for (int step = 0; step < 6; ++step) {
    set_gradients(parameters, std::uint64_t(step));
    const bool skip = step % 3 == 0;
    if (skip) {
      const auto before = parameters[0].second.detach().clone();
      parameters[0].second.mutable_grad().fill_(std::numeric_limits<float>::quiet_NaN());
      parameters[1].second.mutable_grad()[2] = std::numeric_limits<float>::infinity();
      make_step(*optimizer, rates_at(step), bad);
      CHECK(at::equal(parameters[0].second, before));
      continue;
    }
    first.step(parameters[0].second.grad().to(at::kDouble), options, rates_at(step));
    second.step(parameters[1].second.grad().to(at::kDouble), options, rates_at(step));
    make_step(*optimizer, rates_at(step), good);
    CAPTURE(step);
    CHECK(distance(parameters[0].second, first.weight) < 1e-6);
    CHECK(distance(parameters[1].second, second.weight) < 1e-6);
  }
  CHECK(at::equal(parameters[2].second, unused));
  optimizer->zero_grad();
  CHECK_FALSE(parameters[0].second.grad().defined());
}

}  // namespace

TEST_CASE("adamw: fused and plain updates equal the textbook, skipped ones change nothing") {
  OptimizerOptions options;
  options.weight_decay = 0.1;
  for (const bool fused : {true, false}) {
    CAPTURE(fused);
    options.eps = 1e-8;
    compare_with<AdamWLoop>(options, fused);
    options.eps = 1e-4;
    compare_with<AdamWLoop>(options, fused);
  }
  options.weight_decay = 0;
  compare_with<AdamWLoop>(options, false);
}

TEST_CASE("adam_tf1: fused and plain updates equal TensorFlow's, where eps weighs more") {
  OptimizerOptions options;
  options.name = "adam_tf1";
  for (const bool fused : {true, false}) {
    for (const double eps : {1e-8, 1e-3}) {
      CAPTURE(fused);
      CAPTURE(eps);
      options.eps = eps;
      compare_with<Tf1Loop>(options, fused);
    }
  }
  options.weight_decay = 0.1;
  const auto message =
      test::refusal_of(ErrorKind::Usage, [&] { make_optimizer(options, some_parameters(), true); });
  CHECK(test::contains(message, "adam_tf1 has no weight decay"));
}

TEST_CASE("adam_tf1: the first update with numbers worked out by hand") {
  // g = 2: m = 0.2, v = 0.004, lr_1 = lr sqrt(0.001) / 0.1; w = 1 - lr_1 0.2 / (sqrt(0.004) + eps)
  // = 1 - 0.1 * 0.316227766 * 0.2 / (0.0632455532 + 0.01), against 1 - 0.1 * 2 / (2 + 0.01).
  OptimizerOptions options;
  options.name = "adam_tf1";
  options.eps = 0.01;
  for (const bool fused : {true, false}) {
    auto weight = at::ones({1}).requires_grad_();
    weight.mutable_grad() = at::full({1}, 2.0);
    make_step(*make_optimizer(options, {{"w", weight}}, fused), {0.1, {}}, at::zeros({}));
    CHECK(weight.item<double>() == doctest::Approx(0.9136527).epsilon(1e-6));
  }
}

TEST_CASE("sgd: momentum, nesterov and weight decay equal the textbook, skips change nothing") {
  OptimizerOptions options;
  options.name = "sgd";
  for (const double momentum : {0.0, 0.9}) {
    for (const double decay : {0.0, 0.1}) {
      for (const bool nesterov : {false, true}) {
        if (nesterov && momentum == 0) continue;
        CAPTURE(momentum);
        CAPTURE(decay);
        CAPTURE(nesterov);
        options.momentum = momentum;
        options.weight_decay = decay;
        options.nesterov = nesterov;
        compare_with<SgdLoop>(options, true);
      }
    }
  }
}

TEST_CASE("optimizer: a loaded state continues bit by bit, fused and unfused") {
  for (const char* name : {"adamw", "adam_tf1", "sgd"}) {
    for (const bool fused : {true, false}) {
      OptimizerOptions options;
      options.name = name;
      options.momentum = 0.9;
      auto here = some_parameters(), there = some_parameters();
      const auto unbroken = make_optimizer(options, here, fused);
      const auto good = at::zeros({});
      for (int step = 0; step < 3; ++step) {
        set_gradients(here, std::uint64_t(step));
        make_step(*unbroken, rates_at(step), good);
      }
      for (std::size_t i = 0; i < here.size(); ++i) {
        there[i].second.data().copy_(here[i].second);
      }
      const auto resumed = make_optimizer(options, there, fused);
      resumed->load(unbroken->state());
      for (int step = 3; step < 6; ++step) {
        set_gradients(here, std::uint64_t(step));
        set_gradients(there, std::uint64_t(step));
        make_step(*unbroken, rates_at(step), good);
        make_step(*resumed, rates_at(step), good);
      }
      CAPTURE(name);
      CHECK(at::equal(here[0].second, there[0].second));
      CHECK(at::equal(here[1].second, there[1].second));
    }
  }
}

TEST_CASE("optimizer: every listed name makes one") {
  for (const auto& name : plan::optimizer_names()) {
    CAPTURE(name);
    OptimizerOptions options;
    options.name = name;
    CHECK(make_optimizer(options, some_parameters(), false) != nullptr);
  }
}

TEST_CASE("optimizer: unknown names and states of other networks are refused") {
  OptimizerOptions options;
  options.name = "adamv";
  auto message =
      test::refusal_of(ErrorKind::Usage, [&] { make_optimizer(options, some_parameters(), true); });
  CHECK(test::contains(message, "Did you mean 'adamw'?"));
  options.name = "adamw";
  test::refusal_of(ErrorKind::Usage, [&] { make_optimizer(options, {}, true); });
  const auto optimizer = make_optimizer(options, some_parameters(), true);
  auto state = optimizer->state();
  test::refusal_of(ErrorKind::Input, [&] { optimizer->load({}); });
  state.pop_back();
  message = test::refusal_of(ErrorKind::Input, [&] { optimizer->load(state); });
  CHECK(test::contains(message, "exp_avg_sq.unused"));
}
