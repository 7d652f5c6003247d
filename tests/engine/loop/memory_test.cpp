// SPDX-License-Identifier: Apache-2.0
// Out-of-memory, and recorded updates.
#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include "tests/engine/runs.h"
#include "tests/recording_cpu.h"
#include "ubique/engine/loop/auto_batch.h"

using namespace ubique;
using namespace ubique::engine;
using namespace ubique::test;

namespace {

plan::Plan asked_plan(std::int64_t micro, std::int64_t accumulation = 1) {
  auto plan = toy_plan(micro, accumulation);
  plan.micro_batch_asked = true;
  return plan;
}

std::int64_t saved_batch(const TrainResult& result) {
  return load_checkpoint(result.last_checkpoint).trainer_state["micro_batch"];
}

}  // namespace

TEST_CASE("trainer: out of memory halves the micro-batch and keeps the update") {
  const ScratchFolder scratch;
  const ToyOptions small{.batch_norm = false, .dropout = 0};
  ToyTask enough(toy_recipe(2), small);
  enough.data = ToyDataset(10, 0);
  train(enough, asked_plan(8), toy_options(scratch / "enough"));
  for (const bool asked : {true, false}) {  // in the first update, or in the trial before it
    CAPTURE(asked);
    auto options = small;
    options.most_samples = 3;
    ToyTask tight(toy_recipe(2), options);
    tight.data = ToyDataset(10, 0);
    const auto folder = scratch / (asked ? "asked" : "planned");
    const auto result = train(tight, asked ? asked_plan(8) : toy_plan(8), toy_options(folder));
    CHECK(result.steps == 4);
    CHECK(saved_batch(result) == 2);
    const auto difference = tight.toy.toy().first - enough.toy.toy().first;
    CHECK(difference.abs().max().item<float>() < 1e-5);
  }
}

TEST_CASE("trainer: recorded updates equal those without recording") {
  if (device_name() != "cpu") return;
  const ScratchFolder scratch;
  ToyTask plain(toy_recipe(2)), recorded(toy_recipe(2));
  plain.data = recorded.data = ToyDataset(12);
  train(plain, toy_plan(4), toy_options(scratch / "plain"));
  auto plan = toy_plan(4);
  plan.graph_capture.value = true;
  const CpuRecords cpu;
  CHECK(train(recorded, plan, toy_options(scratch / "recorded")).steps == 6);
  CHECK(cpu.replays() == 6);
  CHECK(losses_of(scratch / "recorded") == losses_of(scratch / "plain"));  // with dropout
  CHECK(at::equal(recorded.toy.toy().mean, plain.toy.toy().mean));
}

TEST_CASE("trainer: out of memory during recording leaves the state unchanged") {
  if (device_name() != "cpu") return;
  const ScratchFolder scratch;
  const ToyOptions small{.batch_norm = false, .dropout = 0};
  ToyTask enough(toy_recipe(2), small);
  enough.data = ToyDataset(12, 0);
  train(enough, asked_plan(4), toy_options(scratch / "enough"));
  for (const bool asked : {true, false}) {  // in the first update, or in the trial before it
    CAPTURE(asked);
    const CpuRecords cpu(/*room=*/0);
    ToyTask tight(toy_recipe(2), small);
    tight.data = ToyDataset(12, 0);
    auto plan = asked ? asked_plan(4) : toy_plan(4);
    plan.graph_capture.value = true;
    const auto folder = scratch / (asked ? "asked" : "planned");
    const auto result = train(tight, plan, toy_options(folder));
    CHECK(result.steps == 6);
    CHECK(saved_batch(result) == 2);
    CHECK(cpu.replays() == 0);  // parts of an update are not recorded
    const auto difference = tight.toy.toy().first - enough.toy.toy().first;
    CHECK(difference.abs().max().item<float>() < 1e-5);
  }
}

TEST_CASE("trainer: one sample that does not fit is computed with gradient checkpointing") {
  const ScratchFolder scratch;
  ToyTask tight(toy_recipe(1), {.most_samples = 0});
  const auto result = train(tight, toy_plan(2), toy_options(scratch / "run"));
  CHECK(result.steps == 5);
  CHECK(tight.toy.toy().recomputed);
  CHECK(load_checkpoint(result.last_checkpoint).trainer_state["checkpointing"] == true);
}

TEST_CASE("trainer: a model that cannot fit is a device error with advice") {
  const ScratchFolder scratch;
  ToyTask none(toy_recipe(1), {.most_samples = 0, .can_checkpoint = false});
  const auto message = refusal_of(ErrorKind::Device,
                                  [&] { train(none, toy_plan(2), toy_options(scratch / "run")); });
  CHECK(contains(message, "toy-8 does not fit on a test, not even one sample at once"));
  CHECK(contains(message, "toy out of memory"));
  CHECK(contains(message, "--dtype bf16"));
  ToyTask checkpointed(toy_recipe(1), {.most_samples = 0, .most_when_checkpointed = 0});
  CHECK(
      contains(refusal_of(ErrorKind::Device,
                          [&] { train(checkpointed, toy_plan(1), toy_options(scratch / "two")); }),
               "with gradient checkpointing"));
}

TEST_CASE("trainer: a run with reduced memory resumes with the reduced plan, bit by bit") {
  const ScratchFolder scratch;
  const ToyOptions tight{.most_samples = 2};
  ToyTask whole(toy_recipe(3), tight);
  train(whole, asked_plan(4), toy_options(scratch / "whole"));
  auto options = toy_options(scratch / "broken");
  std::int64_t done = 0;
  options.stop_requested = [&] { return ++done == 4; };
  ToyTask first(toy_recipe(3), tight);
  train(first, asked_plan(4), options);
  options.resume = true;
  options.stop_requested = nullptr;
  ToyTask second(toy_recipe(3), tight);
  CHECK(saved_batch(train(second, asked_plan(4), options)) == 2);
  CHECK(losses_of(scratch / "whole") == losses_of(scratch / "broken"));
}

TEST_CASE("trainer: the trial step changes nothing") {
  const ScratchFolder scratch;
  ToyTask planned(toy_recipe(1)), asked(toy_recipe(1));
  train(planned, toy_plan(4), toy_options(scratch / "planned"));
  train(asked, asked_plan(4), toy_options(scratch / "asked"));
  CHECK(planned.toy.calls == asked.toy.calls + 1);
  CHECK(losses_of(scratch / "planned") == losses_of(scratch / "asked"));
  CHECK(at::equal(planned.toy.toy().mean.cpu(), asked.toy.toy().mean.cpu()));
}

TEST_CASE("auto batch: a plan reduces memory step by step, and every step has a reason") {
  ToyModel model;
  auto needs = model.needs();
  needs.checkpointing.levels = {{.segments = 2, .kept = 0.5}, {.segments = 4, .kept = 0.3}};
  auto plan = toy_plan(5);
  std::vector<std::int64_t> sizes;
  for (int i = 0; i < 3; ++i) {
    plan = reduce_memory(plan, needs, "no memory");
    sizes.push_back(plan.micro_batch.value);
    CHECK(plan.micro_batch.value * plan.accumulation.value >= 5);
    CHECK(contains(plan.micro_batch.reason, "memory ran out"));
  }
  CHECK(sizes == std::vector<std::int64_t>{3, 2, 1});
  CHECK(plan.accumulation.value == 5);
  plan = reduce_memory(plan, needs, "no memory");
  CHECK(plan.checkpointing.value);
  CHECK(plan.segments == 2);
  plan = reduce_memory(plan, needs, "no memory");
  CHECK(plan.segments == 4);
  refusal_of(ErrorKind::Device, [&] { reduce_memory(plan, needs, "no memory"); });
}
