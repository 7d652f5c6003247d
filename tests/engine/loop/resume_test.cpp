// SPDX-License-Identifier: Apache-2.0
// Resumed runs give the same numbers as runs that never stopped.
#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <limits>

#include "tests/engine/runs.h"
#include "ubique/engine/checkpoint/state_dict.h"

using namespace ubique;
using namespace ubique::engine;
using namespace ubique::test;

namespace {

struct Ended {
  std::vector<double> losses;
  NamedTensors state;
  TrainResult result;
};

Ended ended(ToyTask& task, const TrainResult& result, const std::filesystem::path& folder) {
  Ended end{losses_of(folder), {}, result};
  for (const auto& [name, tensor] : state_dict(task.toy.network())) {
    end.state.emplace_back(name, tensor.detach().cpu().clone());
  }
  return end;
}

Ended unbroken(const Recipe& recipe, const plan::Plan& plan, const std::filesystem::path& folder) {
  ToyTask task(recipe);
  const auto result = train(task, plan, toy_options(folder));
  return ended(task, result, folder);
}

/// Stops after each of these steps and resumes with new objects, as a new process would.
Ended broken(const Recipe& recipe, const plan::Plan& plan, const std::filesystem::path& folder,
             const std::vector<std::int64_t>& stops) {
  std::int64_t done = 0;
  auto options = toy_options(folder);
  for (const auto stop : stops) {
    ToyTask task(recipe);
    options.stop_requested = [&] { return ++done == stop; };
    const auto result = train(task, plan, options);
    CHECK(result.interrupted);
    CHECK(result.steps == stop);
    options.resume = true;
    at::rand({7});  // a process that starts later finds other generators
  }
  ToyTask task(recipe);
  options.stop_requested = nullptr;
  const auto result = train(task, plan, options);
  return ended(task, result, folder);
}

void check_same(const Ended& a, const Ended& b) {
  CHECK(a.losses == b.losses);
  for (std::size_t i = 0; i < a.state.size(); ++i) {
    CAPTURE(a.state[i].first);
    CHECK(at::equal(a.state[i].second, b.state[i].second));
  }
  CHECK(a.result.scores == b.result.scores);
  CHECK(a.result.best == b.result.best);
  CHECK(a.result.best_epoch == b.result.best_epoch);
  CHECK(a.result.train_loss == b.result.train_loss);
  CHECK(a.result.steps == b.result.steps);
}

/// A training of one step, stopped there; returns its options without the stop.
TrainOptions stopped_after_one_step(ToyTask& task, const std::filesystem::path& folder) {
  auto options = toy_options(folder);
  std::int64_t done = 0;
  options.stop_requested = [&] { return ++done == 1; };
  train(task, toy_plan(), options);
  options.stop_requested = nullptr;
  return options;
}

}  // namespace

TEST_CASE("trainer: a run stopped anywhere resumes bit by bit") {
  const ScratchFolder scratch;
  auto recipe = toy_recipe(4);
  recipe.schedule.name = "onecycle";
  recipe.schedule.warmup = 0.3;
  recipe.clip_norm = 0.5;
  const auto whole = unbroken(recipe, toy_plan(2, 2), scratch / "whole");
  REQUIRE(whole.losses.size() == 12);
  const std::vector<std::vector<std::int64_t>> stops = {{1}, {3}, {4, 5}, {6, 11}, {12}};
  for (const auto& stop : stops) {
    CAPTURE(stop.front());
    const auto name = "broken-" + std::to_string(stop.front());
    check_same(whole, broken(recipe, toy_plan(2, 2), scratch / name, stop));
  }
}

TEST_CASE("trainer: averages, loss scale, plateau and sgd resume exactly too") {
  const ScratchFolder scratch;
  auto recipe = toy_recipe(4);
  recipe.ema_decay = 0.8;
  recipe.optimizer.name = "sgd";
  recipe.optimizer.momentum = 0.9;
  recipe.schedule.name = "plateau";
  recipe.schedule.patience = 0;
  auto plan = toy_plan(4);
  plan.dtype.value = device_name() == "cpu" ? DType::BF16 : DType::F16;
  plan.autocast.value = plan.grad_scaler.value = true;
  const auto whole = unbroken(recipe, plan, scratch / "whole");
  check_same(whole, broken(recipe, plan, scratch / "broken", {2, 7}));
}

TEST_CASE(
    "trainer: what a run is killed in the middle of an epoch loses is what was not saved yet") {
  const test::ScratchFolder scratch;
  const Recipe recipe = toy_recipe();
  const auto whole = unbroken(recipe, toy_plan(), scratch / "whole");
  auto options = toy_options(scratch / "killed");
  options.save_every = std::chrono::seconds(0);
  std::int64_t done = 0;
  options.stop_requested = [&]() -> bool {
    if (++done == 2) throw std::runtime_error("as a kill would end it");
    return false;
  };
  ToyTask task(recipe);
  CHECK_THROWS_AS(train(task, toy_plan(), options), std::runtime_error);
  CHECK(load_checkpoint(scratch / "killed/checkpoints/last", false).step == 2);
  options.stop_requested = nullptr;
  options.resume = true;
  ToyTask again(recipe);
  const auto result = train(again, toy_plan(), options);
  CHECK(result.scores == whole.result.scores);
  CHECK(result.train_loss == whole.result.train_loss);
}

TEST_CASE("trainer: resuming a finished run changes nothing") {
  const ScratchFolder scratch;
  const auto recipe = toy_recipe(2);
  const auto whole = unbroken(recipe, toy_plan(), scratch / "run");
  auto options = toy_options(scratch / "run");
  options.resume = true;
  ToyTask task(recipe);
  const auto again = train(task, toy_plan(), options);
  CHECK(again.steps == whole.result.steps);
  CHECK(again.best == whole.result.best);
  CHECK(task.toy.calls == 0);
  ToyTask longer(toy_recipe(3));
  CHECK(train(longer, toy_plan(), options).steps == 9);
}

TEST_CASE("trainer: resuming without a checkpoint starts a new run") {
  const ScratchFolder scratch;
  auto options = toy_options(scratch / "run");
  options.resume = true;
  ToyTask task(toy_recipe(1));
  CHECK(train(task, toy_plan(), options).steps == 3);
}

TEST_CASE("trainer: a checkpoint elsewhere can be resumed from in a new folder") {
  const ScratchFolder scratch;
  const auto recipe = toy_recipe(4);
  const auto whole = unbroken(recipe, toy_plan(), scratch / "whole");
  auto options = toy_options(scratch / "first");
  std::int64_t done = 0;
  options.stop_requested = [&] { return ++done == 5; };
  ToyTask first(recipe);
  const auto stopped = train(first, toy_plan(), options);
  auto elsewhere = toy_options(scratch / "second");
  elsewhere.resume_from = stopped.last_checkpoint;
  ToyTask second(recipe);
  const auto result = train(second, toy_plan(), elsewhere);
  CHECK(result.scores == whole.result.scores);
  CHECK(losses_of(scratch / "second") ==
        std::vector<double>(whole.losses.begin() + 5, whole.losses.end()));
}

TEST_CASE("trainer: a run that began from a checkpoint elsewhere goes on from its own last one") {
  const ScratchFolder scratch;
  const auto recipe = toy_recipe(4);
  const auto whole = unbroken(recipe, toy_plan(), scratch / "whole");
  const auto stopping_after = [](TrainOptions options, int updates) {
    options.stop_requested = [updates, done = 0]() mutable { return ++done == updates; };
    return options;
  };
  ToyTask first(recipe);
  const auto stopped = train(first, toy_plan(), stopping_after(toy_options(scratch / "first"), 5));
  auto elsewhere = toy_options(scratch / "second");
  elsewhere.resume_from = stopped.last_checkpoint;
  elsewhere.resume = true;  // as a launcher adds when it starts again
  ToyTask second(recipe);
  train(second, toy_plan(), stopping_after(elsewhere, 3));
  ToyTask third(recipe);
  CHECK(train(third, toy_plan(), elsewhere).scores == whole.result.scores);
  CHECK(losses_of(scratch / "second") ==
        std::vector<double>(whole.losses.begin() + 5, whole.losses.end()));
}

TEST_CASE("trainer: a checkpoint of another model, optimizer or batch is refused") {
  const ScratchFolder scratch;
  const auto recipe = toy_recipe(2);
  ToyTask task(recipe);
  auto options = stopped_after_one_step(task, scratch / "run");
  options.resume = true;
  ToyTask other(recipe, {.dropout = 0.5});
  auto message = refusal_of(ErrorKind::Input, [&] { train(other, toy_plan(), options); });
  CHECK(contains(message, "got dropout 0.2, expected 0.5"));
  auto with_sgd = recipe;
  with_sgd.optimizer.name = "sgd";
  ToyTask sgd(with_sgd);
  message = refusal_of(ErrorKind::Input, [&] { train(sgd, toy_plan(), options); });
  CHECK(contains(message, "got adamw, expected sgd"));
  ToyTask smaller(recipe);
  message = refusal_of(ErrorKind::Input, [&] { train(smaller, toy_plan(2), options); });
  CHECK(contains(message, "--effective-batch 4"));
  const auto weights_only = scratch / "weights";
  auto checkpoint = load_checkpoint(scratch / "run" / "checkpoints" / "last");
  checkpoint.trainer.clear();
  checkpoint.trainer_state = nullptr;
  save_checkpoint(weights_only, checkpoint);
  auto elsewhere = toy_options(scratch / "new");
  elsewhere.resume_from = weights_only;
  message = refusal_of(ErrorKind::Input, [&] { train(task, toy_plan(), elsewhere); });
  CHECK(contains(message, "--model"));
}

TEST_CASE("trainer: a trainer state of wrong types or impossible values is refused by its field") {
  const ScratchFolder scratch;
  const auto recipe = toy_recipe(2);
  ToyTask task(recipe);
  auto options = stopped_after_one_step(task, scratch / "run");
  const auto good = load_checkpoint(scratch / "run" / "checkpoints" / "last");
  int number = 0;
  const auto refused = [&](const Checkpoint& checkpoint) {
    const auto name = std::to_string(++number);
    save_checkpoint(scratch / ("bad-" + name), checkpoint);
    auto elsewhere = toy_options(scratch / ("run-" + name));
    elsewhere.resume_from = scratch / ("bad-" + name);
    ToyTask again(recipe);
    return refusal_of(ErrorKind::Input, [&] { train(again, toy_plan(), elsewhere); });
  };
  const std::vector<std::string> fields = {
      "epoch",        "update",   "step",       "open_updates", "epoch_loss",
      "epoch_weight", "best",     "best_epoch", "micro_batch",  "effective_batch",
      "scores",       "skipped",  "seed",       "seconds",      "optimizer",
      "generator",    "schedule", "scaler",     "stopped_early"};
  for (const auto& field : fields) {
    for (const Json& value : {Json("wrong"), Json::array({1}), Json(-1e308)}) {
      CAPTURE(field);
      CAPTURE(value.dump());
      if (value.is_string() && (field == "optimizer" || field == "generator")) continue;
      if (value.is_number() && field == "best") continue;  // any finite number can be a score
      auto bad = good;
      bad.trainer_state[field] = value;
      const auto message = refused(bad);
      CHECK(contains(message, "[engine.resume]"));
      CHECK(contains(message, "'" + field + "'"));
    }
  }
  auto bad = good;
  bad.trainer_state["epoch"] = -1;
  CHECK(contains(refused(bad), "'epoch'; got -1, expected a whole number from 0 to"));
  bad = good;
  bad.trainer_state["step"] = std::numeric_limits<std::uint64_t>::max();
  CHECK(contains(refused(bad), "'step'; got 18446744073709551615"));
  bad = good;
  bad.trainer_state.erase("step");
  CHECK(contains(refused(bad), "'step'; got none"));
  bad = good;
  bad.trainer_state["scaler"] = {{"scale", 1e308}};
  CHECK(contains(refused(bad), "'scaler.scale'"));
  bad = good;
  for (auto& [name, tensor] : bad.trainer) {
    if (name == "generator.cpu") tensor = at::zeros({3}, at::kByte);
  }
  CHECK(contains(refused(bad), "random generator"));
}
