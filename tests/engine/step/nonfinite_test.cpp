// SPDX-License-Identifier: Apache-2.0
// Runs with non-finite gradients.
#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include "tests/engine/runs.h"
#include "ubique/engine/checkpoint/state_dict.h"

using namespace ubique;
using namespace ubique::engine;
using namespace ubique::test;

TEST_CASE("trainer: a non-finite update is skipped and counted, and the run continues") {
  const ScratchFolder scratch;
  for (const bool fused : {true, false}) {
    CAPTURE(fused);
    ToyTask task(toy_recipe(3), {.nan_from = 4, .nan_until = 6});
    auto plan = toy_plan();
    plan.fused_kernels.value = fused;
    const auto name = fused ? "fused" : "plain";
    auto options = toy_options(scratch / name);
    const auto result = train(task, plan, options);
    CHECK(result.steps == 9);
    CHECK(result.skipped_steps == 2);
    CHECK(losses_of(scratch / name).size() == 7);
    CHECK(std::isfinite(result.train_loss));
    for (const auto& [key, tensor] : state_dict(task.toy.network())) {
      CAPTURE(key);
      CHECK(tensor.isfinite().all().item<bool>());
    }
  }
}

TEST_CASE("trainer: a run that only skips stops with a dump that reproduces the update") {
  const ScratchFolder scratch;
  auto recipe = toy_recipe(10);
  recipe.max_bad_steps = 3;
  ToyTask task(recipe, {.nan_from = 4});
  const auto message = refusal_of(
      ErrorKind::Input, [&] { train(task, toy_plan(2, 2), toy_options(scratch / "run")); });
  CHECK(contains(message, "3 updates in a row"));
  CHECK(contains(message, "--resume-from"));
  const auto crash = scratch / "run" / "crash";
  REQUIRE(std::filesystem::exists(crash));
  const auto folder = std::filesystem::directory_iterator(crash)->path();
  CHECK(contains(message, folder.string()));
  const auto dump = load_checkpoint(folder);
  CHECK(find_tensor(dump.trainer, "batch.0.x").sizes() == at::IntArrayRef{2, 6});
  CHECK(find_tensor(dump.trainer, "generator.cpu").defined());
  CHECK(dump.trainer_state["batch_samples"][0].size() == 2);
  const auto step = dump.step;

  // Reproduced with a network that stays finite: the same update, from the same weights.
  auto options = toy_options(scratch / "again");
  options.resume_from = folder;
  options.stop_requested = [] { return true; };
  ToyTask again(recipe);
  CHECK(train(again, toy_plan(2, 2), options).steps == step + 1);
  ToyTask twice(recipe);
  options.folder = scratch / "twice";
  train(twice, toy_plan(2, 2), options);
  CHECK(losses_of(scratch / "again") == losses_of(scratch / "twice"));
  CHECK(losses_of(scratch / "again").size() == 1);
}
