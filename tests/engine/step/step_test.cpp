// SPDX-License-Identifier: Apache-2.0
// Gradient accumulation: the update is the same for every micro-batch size. Non-finite gradients.
#include "ubique/engine/step/gradient_accumulation.h"

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <limits>

#include "tests/engine/toy.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/step/nonfinite.h"

using namespace ubique;
using namespace ubique::engine;
using namespace ubique::test;

namespace {

struct Summed {
  NamedTensors gradients;
  double loss = 0, miss = 0;
};

GradientNorm clipped(const NamedTensors& parameters, double factor, const at::Tensor& inverse_scale,
                     double clip_norm) {
  return scale_and_clip_gradients(parameters, gradient_norm(parameters), factor, inverse_scale,
                                  clip_norm);
}

/// Gradients of the four samples 0..3 (weights 1, 2, 3, 1), in the given micro-batches.
Summed summed(const std::vector<std::vector<std::int64_t>>& cuts, bool scaling = false,
              bool by_samples = false) {
  const auto device = kDevice;
  ToyModel model({.batch_norm = false, .dropout = 0});
  model.initialize(Random(2));
  model.network().to(device);
  const auto parameters = trainable_parameters(model.network());
  const ToyDataset data(8, 0);
  const GradScaler scaler(device, scaling);
  GradientAccumulation sum(model, scaler, device.type(), {});
  for (const auto& cut : cuts) {
    auto batch = data.load(cut, SampleRandoms(Random(1)));
    if (by_samples) batch.weight = static_cast<double>(batch.samples);  // a mean of means
    sum.add(to_device(batch, device, toy_plan()));
  }
  clipped(parameters, sum.factor(), scaler.inverse(), 0);
  Summed result;
  for (const auto& [name, parameter] : parameters) {
    if (parameter.grad().defined()) result.gradients.emplace_back(name, parameter.grad().cpu());
  }
  result.loss = sum.loss().item<double>();
  result.miss = sum.metrics().front().second.item<double>();
  return result;
}

double largest_difference(const Summed& a, const Summed& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.gradients.size(); ++i) {
    const auto gap = (a.gradients[i].second - b.gradients[i].second).abs().max();
    most = std::max(most, gap.item<double>());
  }
  return most;
}

}  // namespace

TEST_CASE("step: one batch of four equals two of two and four of one, by weights") {
  const auto whole = summed({{0, 1, 2, 3}});
  for (const auto& parts : {summed({{0, 1}, {2, 3}}), summed({{0}, {1}, {2}, {3}}),
                            summed({{0, 1, 2}, {3}}), summed({{0}, {1}, {2}, {3}}, true)}) {
    CHECK(largest_difference(whole, parts) < 1e-6);
    CHECK(parts.loss == doctest::Approx(whole.loss).epsilon(1e-6));
    CHECK(parts.miss == doctest::Approx(whole.miss).epsilon(1e-6));
  }
  const auto mean_of_means = summed({{0, 1}, {2, 3}}, false, true);
  CHECK(largest_difference(whole, mean_of_means) > 1e-3);
}

TEST_CASE("step: a single batch keeps every bit of its gradients, scaled or not") {
  const auto device = kDevice;
  ToyModel model({.batch_norm = false, .dropout = 0});
  model.initialize(Random(2));
  model.network().to(device);
  const auto batch = to_device(ToyDataset(8, 0).load({0, 1, 2}, engine::SampleRandoms(Random(1))),
                               device, toy_plan());
  model.step(batch).loss.backward();
  const auto plain = model.toy().first.grad().cpu();
  for (const bool scaling : {false, true}) {
    CHECK(at::equal(summed({{0, 1, 2}}, scaling).gradients.front().second, plain));
  }
}

TEST_CASE("step: a batch of weight 0 is ignored, an invalid weight is an error") {
  const auto device = kDevice;
  ToyModel model;
  model.network().to(device);
  const GradScaler scaler(device, false);
  GradientAccumulation sum(model, scaler, device.type(), {});
  auto batch =
      to_device(ToyDataset(4).load({0, 1}, engine::SampleRandoms(Random(1))), device, toy_plan());
  batch.weight = 0;
  sum.add(batch);
  CHECK(sum.empty());
  CHECK(model.calls == 0);
  batch.weight = std::numeric_limits<double>::quiet_NaN();
  refusal_of(ErrorKind::Internal, [&] { sum.add(batch); });
}

TEST_CASE("guard: the norm is measured before clipping, and clipping keeps the direction") {
  const auto device = kDevice;
  const auto f32 = at::TensorOptions(at::kFloat).device(device);
  NamedTensors parameters = {{"a", at::zeros({2}, f32).requires_grad_()},
                             {"b", at::zeros({1}, f32).requires_grad_()},
                             {"none", at::zeros({1}, f32).requires_grad_()}};
  const auto set = [&](float x, float y, float z) {
    parameters[0].second.mutable_grad() = at::tensor({x, y}).to(device);
    parameters[1].second.mutable_grad() = at::tensor({z}).to(device);
  };
  set(2, 3, 6);
  auto result = clipped(parameters, 1, {}, 0);
  CHECK(result.norm.item<float>() == 7);
  CHECK(result.bad.item<float>() == 0);
  result = clipped(parameters, 1, {}, 3.5);
  CHECK(result.norm.item<float>() == 7);
  CHECK(parameters[1].second.grad().item<float>() == doctest::Approx(3).epsilon(1e-6));
  set(2, 3, 6);
  result = clipped(parameters, 0.5, at::full({}, 0.25, f32), 100);
  CHECK(result.norm.item<float>() == doctest::Approx(7.0 / 8));
  CHECK(parameters[1].second.grad().item<float>() == doctest::Approx(6.0 / 8));
  set(2, std::numeric_limits<float>::infinity(), 6);
  CHECK(clipped(parameters, 1, {}, 1).bad.item<float>() == 1);
  set(2, std::numeric_limits<float>::quiet_NaN(), 6);
  CHECK(clipped(parameters, 1, {}, 0).bad.item<float>() == 1);
}

TEST_CASE("guard: skipped updates are counted, in total and in a row") {
  SkipCounter counter(kDevice);
  for (const float bad : {1.F, 0.F, 1.F, 1.F}) counter.observe(at::full({}, bad).to(kDevice));
  CHECK(counter.total().item<float>() == 3);
  CHECK(counter.in_a_row().item<float>() == 2);
}

TEST_CASE("guard: only non-finite statistics are reset") {
  const auto device = kDevice;
  auto mean = at::tensor({1.F, 2.F}).to(device), count = at::tensor({3}).to(device);
  StatisticsBackup backup({{"bn.running_mean", mean}, {"bn.num_batches_tracked", count}});
  backup.save();
  mean.copy_(at::tensor({5.F, std::numeric_limits<float>::quiet_NaN()}));
  count.add_(1);
  backup.reset_nonfinite();
  CHECK(at::equal(mean.cpu(), at::tensor({5.F, 2.F})));
  CHECK(count.item<std::int64_t>() == 4);
  backup.restore();
  CHECK(at::equal(mean.cpu(), at::tensor({1.F, 2.F})));
  CHECK(count.item<std::int64_t>() == 3);
}
