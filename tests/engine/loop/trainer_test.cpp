// SPDX-License-Identifier: Apache-2.0
// The training loop end to end, on the toy family.
#include "ubique/engine/loop/trainer.h"

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <cmath>
#include <sstream>

#include "tests/engine/runs.h"
#include "ubique/base/files/file.h"
#include "ubique/engine/checkpoint/state_dict.h"

using namespace ubique;
using namespace ubique::engine;
using namespace ubique::test;

namespace {

double mean_of_first(const std::vector<double>& values, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += values[i];
  return sum / static_cast<double>(count);
}

}  // namespace

TEST_CASE("trainer: a run learns, validates and writes its folder") {
  const ScratchFolder scratch;
  ToyTask task(toy_recipe(40), {.batch_norm = false, .dropout = 0});
  auto options = toy_options(scratch / "run");
  options.report = true;
  const auto result = train(task, toy_plan(2, 2), options);
  CHECK(result.epochs == 40);
  CHECK(result.steps == 120);  // ten samples, four per update
  CHECK(task.validations == 40);
  CHECK_FALSE(result.interrupted);
  CHECK(result.best_epoch >= 0);
  CHECK(result.scores.front().first == "skill");
  CHECK(result.best.front().second >= result.scores.front().second);
  CHECK(result.measured_bytes > 0);
  CHECK(result.predicted_bytes == 1 << 20);
  const auto losses = losses_of(scratch / "run");
  REQUIRE(losses.size() == 120);
  CHECK(result.train_loss < 0.5 * mean_of_first(losses, 3));
  for (const char* name : {"run.yaml", "plan.json", "metrics.jsonl", "report.html"}) {
    CHECK(std::filesystem::exists(scratch / "run" / name));
  }
  CHECK(is_checkpoint(result.best_checkpoint));
  const auto last = load_checkpoint(result.last_checkpoint);
  CHECK(last.family == "toy");
  CHECK(last.step == 120);
  CHECK(last.epoch == 40);
  CHECK(last.provenance["data"] == "toy-10");
  CHECK(last.model.size() == 5);
}

TEST_CASE("trainer: epoch_closed is called after the epoch's checkpoints are on disk") {
  const ScratchFolder scratch;
  ToyTask task(toy_recipe(3));
  task.scripted = {0.1, 0.3, 0.2};
  train(task, toy_plan(4), toy_options(scratch / "run"));
  REQUIRE(task.closed.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(task.closed[i].epoch == std::int64_t(i));
    CHECK(task.closed[i].best == (i < 2));
    CHECK(task.closed[i].scores.front().second == task.scripted[i]);
    CHECK(std::isfinite(task.closed[i].train_loss));
  }
}

TEST_CASE("trainer: the same seed gives the same run, another seed another one") {
  const ScratchFolder scratch;
  const auto losses = [&](const std::string& name, std::uint64_t seed) {
    auto recipe = toy_recipe();
    recipe.seed = seed;
    ToyTask task(recipe);
    train(task, toy_plan(), toy_options(scratch / name));
    return losses_of(scratch / name);
  };
  const auto first = losses("a", 5);
  CHECK(first == losses("b", 5));
  CHECK(first != losses("c", 6));
}

TEST_CASE("trainer: the micro-batch size changes rounding only") {
  const ScratchFolder scratch;
  const auto weights = [&](const std::string& name, std::int64_t micro, std::int64_t accumulation) {
    ToyTask task(toy_recipe(2), {.batch_norm = false, .dropout = 0});
    task.data = ToyDataset(10, 0);  // augmentation is drawn per batch
    train(task, toy_plan(micro, accumulation), toy_options(scratch / name));
    return task.toy.toy().first.detach().cpu().clone();
  };
  const auto whole = weights("whole", 4, 1);
  for (const auto& parts : {weights("two", 2, 2), weights("four", 1, 4)}) {
    CHECK((whole - parts).abs().max().item<float>() < 1e-5);
  }
}

TEST_CASE("trainer: given weights are kept, fresh ones come from the seed alone") {
  const ScratchFolder scratch;
  auto recipe = toy_recipe(1);
  recipe.optimizer.lr = 0;
  recipe.optimizer.weight_decay = 0;
  ToyTask fresh(recipe);
  train(fresh, toy_plan(), toy_options(scratch / "fresh"));
  ToyModel expected;
  expected.initialize(Random(recipe.seed, 1));
  CHECK(at::equal(fresh.toy.toy().first.cpu(), expected.toy().first));
  ToyTask given(recipe);
  given.toy.initialize(Random(123));
  given.toy.set_initialized();
  const auto kept = given.toy.toy().first.detach().clone();
  train(given, toy_plan(), toy_options(scratch / "given"));
  CHECK(at::equal(given.toy.toy().first.cpu(), kept));
  CHECK_FALSE(at::equal(kept, expected.toy().first));
}

TEST_CASE("trainer: averaged weights are validated and saved") {
  const ScratchFolder scratch;
  auto recipe = toy_recipe(2);
  recipe.ema_decay = 0.9;
  ToyTask task(recipe);
  const auto result = train(task, toy_plan(), toy_options(scratch / "run"));
  const auto saved = load_checkpoint(result.last_checkpoint);
  const auto average = find_tensor(saved.model, "first_weight");
  const auto weights = find_tensor(saved.trainer, "weights.first_weight");
  CHECK(at::equal(weights, task.toy.toy().first.cpu()));
  CHECK_FALSE(at::equal(weights, average));
  CHECK((weights - average).abs().max().item<float>() < 0.5);
}

TEST_CASE("trainer: it stops early when the watched score does not improve") {
  const ScratchFolder scratch;
  auto recipe = toy_recipe(50);
  recipe.patience = 2;
  ToyTask task(recipe);
  task.scripted = {0.1, 0.4, 0.3, 0.35, 0.2, 0.9};
  const auto result = train(task, toy_plan(), toy_options(scratch / "run"));
  CHECK(result.stopped_early);
  CHECK(result.epochs == 4);
  CHECK(result.best_epoch == 1);
  CHECK(result.best.front().second == 0.4);
  CHECK(load_checkpoint(result.best_checkpoint).epoch == 2);
  auto options = toy_options(scratch / "run");
  options.resume = true;  // it stays stopped
  ToyTask again(recipe);
  CHECK(train(again, toy_plan(), options).steps == result.steps);
}

TEST_CASE("trainer: a score that is better by too little does not count") {
  const ScratchFolder scratch;
  auto recipe = toy_recipe(50);
  recipe.patience = 2;
  recipe.min_delta = 0.1;
  ToyTask task(recipe);
  task.scripted = {0.1, 0.4, 0.45, 0.49, 0.9};
  const auto result = train(task, toy_plan(), toy_options(scratch / "run"));
  CHECK(result.stopped_early);
  CHECK(result.epochs == 4);
  CHECK(result.best_epoch == 1);
}

TEST_CASE("trainer: checkpoints are kept every few epochs, texts are in metrics and report") {
  const ScratchFolder scratch;
  auto recipe = toy_recipe(4);
  recipe.checkpoint_epochs = 2;
  ToyTask task(recipe);
  task.writes = {{"sample", "a < b"}};
  auto options = toy_options(scratch / "run");
  options.report = true;
  const auto result = train(task, toy_plan(), options);
  const auto steps = result.steps / 4;
  for (const std::int64_t epoch : {2, 4}) {
    CHECK(is_checkpoint(scratch / "run" / "checkpoints" / fmt::format("step-{}", epoch * steps)));
  }
  CHECK_FALSE(is_checkpoint(scratch / "run" / "checkpoints" / fmt::format("step-{}", steps)));
  CHECK(test::contains(read_file(scratch / "run" / "metrics.jsonl"),
                       "\"texts\":[{\"caption\":\"sample\",\"text\":\"a < b\"}]"));
  CHECK(test::contains(read_file(scratch / "run" / "report.html"), "<pre>a &lt; b</pre>"));
}

TEST_CASE("trainer: a named score, else the training loss, breaks ties") {
  const ScratchFolder scratch;
  auto recipe = toy_recipe(4);
  recipe.watch_ties = "doubt_loss";
  ToyTask named(recipe);
  named.scripted = {0.5, 0.5, 0.5, 0.5};
  named.scripted_loss = {0.9, 0.7, 0.8, 0.7};
  auto result = train(named, toy_plan(), toy_options(scratch / "named"));
  CHECK(result.best_epoch == 1);  // the first of the lowest
  CHECK(load_checkpoint(result.best_checkpoint).epoch == 2);

  recipe = toy_recipe(40);
  ToyTask unnamed(recipe, {.batch_norm = false, .dropout = 0});
  unnamed.scripted = {0.5};
  result = train(unnamed, toy_plan(2, 2), toy_options(scratch / "unnamed"));
  double least = unnamed.closed.front().train_loss;
  std::int64_t best = 0;
  for (const auto& record : unnamed.closed) {
    if (record.train_loss < least) best = record.epoch;
    least = std::min(least, record.train_loss);
  }
  CHECK(best > 0);
  CHECK(result.best_epoch == best);
}

TEST_CASE(
    "trainer: equals that are better otherwise do not prolong the patience, a loss is lower") {
  const ScratchFolder scratch;
  auto recipe = toy_recipe(50);
  recipe.patience = 2;
  recipe.watch_ties = "doubt_loss";
  ToyTask equal(recipe);
  equal.scripted = {0.5};
  equal.scripted_loss = {0.9, 0.8, 0.7, 0.6};
  auto result = train(equal, toy_plan(), toy_options(scratch / "equal"));
  CHECK(result.stopped_early);
  CHECK(result.epochs == 3);
  CHECK(result.best_epoch == 2);

  const auto config = Config::from_text("watch: doubt_loss\nepochs: 4\n", "run.yaml");
  ToyTask falling(read_recipe(config, toy_recipe()));
  falling.scripted = {0.1, 0.2, 0.3, 0.4};
  falling.scripted_loss = {0.9, 0.3, 0.5, 0.4};
  result = train(falling, toy_plan(), toy_options(scratch / "falling"));
  CHECK(result.best_epoch == 1);
}

TEST_CASE("trainer: patience counts epochs, not validations") {
  const ScratchFolder scratch;
  auto recipe = toy_recipe(50);
  recipe.patience = 4;
  recipe.validate_every = 3;
  ToyTask task(recipe);
  task.scripted = {0.5, 0.4, 0.3, 0.2};
  const auto result = train(task, toy_plan(), toy_options(scratch / "run"));
  CHECK(task.validations == 3);
  CHECK(result.epochs == 9);  // best after 3, not better after 6 and 9
}

TEST_CASE("trainer: without validation data the training loss decides") {
  const ScratchFolder scratch;
  ToyTask task(toy_recipe(3));
  task.unscored = true;
  const auto result = train(task, toy_plan(), toy_options(scratch / "run"));
  CHECK(result.best_epoch >= 0);
  CHECK(result.best.empty());
  CHECK(is_checkpoint(result.best_checkpoint));
}

TEST_CASE("trainer: max_steps ends a run in the middle of an epoch, validated and saved") {
  const ScratchFolder scratch;
  auto recipe = toy_recipe(50);
  recipe.max_steps = 4;
  ToyTask task(recipe);
  const auto result = train(task, toy_plan(), toy_options(scratch / "run"));
  CHECK(result.steps == 4);
  CHECK(task.validations == 2);
  CHECK(load_checkpoint(result.last_checkpoint).step == 4);
}

TEST_CASE("trainer: step-N checkpoints are kept up to the limit") {
  const ScratchFolder scratch;
  auto recipe = toy_recipe(4);
  recipe.checkpoint_every = 2;
  recipe.keep = 2;
  ToyTask task(recipe);
  train(task, toy_plan(), toy_options(scratch / "run"));
  const auto folder = scratch / "run" / "checkpoints";
  CHECK(std::filesystem::exists(folder / "step-12"));
  CHECK(std::filesystem::exists(folder / "step-10"));
  CHECK_FALSE(std::filesystem::exists(folder / "step-8"));
}

TEST_CASE("trainer: half precision with loss scaling learns too, parameters stay in f32") {
  const ScratchFolder scratch;
  ToyTask task(toy_recipe(40), {.dropout = 0});
  auto plan = toy_plan();
  plan.dtype.value = device_name() == "cpu" ? DType::BF16 : DType::F16;
  plan.autocast.value = true;
  plan.grad_scaler.value = true;
  const auto result = train(task, plan, toy_options(scratch / "run"));
  CHECK(result.train_loss < 0.5 * mean_of_first(losses_of(scratch / "run"), 3));
  CHECK((task.toy.toy().first.scalar_type() == at::kFloat));
}

TEST_CASE("trainer: a family's own optimizer is used") {
  struct Still final : Optimizer {
    explicit Still(NamedTensors parameters) : Optimizer(std::move(parameters)) {}
    void prepare(const Rates&) override {}
    void step(const at::Tensor&) override { ++steps; }
    NamedTensors state() const override { return {}; }
    void load(const NamedTensors&) override {}
    int steps = 0;
  };
  const ScratchFolder scratch;
  auto recipe = toy_recipe(1);
  recipe.optimizer.name = "still";
  ToyTask task(recipe);
  Still* made = nullptr;
  int steps = 0;
  task.own_optimizer = [&](const OptimizerOptions& options) {
    CHECK(options.name == "still");
    auto own = std::make_unique<Still>(trainable_parameters(task.toy.network()));
    made = own.get();
    return own;
  };
  auto options = toy_options(scratch / "run");
  options.stop_requested = [&] { return steps = made->steps, false; };
  train(task, toy_plan(), options);
  CHECK(steps == 3);
}

TEST_CASE("trainer: progress shows epoch, loss, score and memory") {
  const ScratchFolder scratch;
  std::ostringstream out;
  ToyTask task(toy_recipe(2));
  auto options = toy_options(scratch / "run");
  options.progress = ProgressStyle::JsonLines;
  options.progress_stream = &out;
  train(task, toy_plan(), options);
  const auto text = out.str();
  for (const char* part : {"epoch 2/2", "loss ", "skill ", "of 1.0 MiB predicted", "\"done\":6"}) {
    CAPTURE(part);
    CHECK(contains(text, part));
  }
}

TEST_CASE("trainer: a report that cannot be written does not end the run") {
  const ScratchFolder scratch;
  auto options = toy_options(scratch / "run");
  options.report = true;
  options.stop_requested = [&] {
    std::filesystem::create_directories(scratch / "run/report.html");  // in the report's place
    return false;
  };
  ToyTask task(toy_recipe(2));
  const auto result = train(task, toy_plan(), options);
  CHECK(result.steps == 6);
  CHECK(result.report.empty());
  CHECK(task.toy.network().is_training());
}

TEST_CASE("trainer: impossible plans are refused before training") {
  const ScratchFolder scratch;
  auto recipe = toy_recipe(1);
  recipe.watch = "speed";
  ToyTask unknown(recipe);
  auto message = refusal_of(ErrorKind::Usage,
                            [&] { train(unknown, toy_plan(), toy_options(scratch / "unknown")); });
  CHECK(contains(message, "got watch speed, expected one of skill"));
  ToyTask empty(toy_recipe(1), {}, 0);
  refusal_of(ErrorKind::Input, [&] { train(empty, toy_plan(), toy_options(scratch / "empty")); });
  ToyTask task(toy_recipe(1));
  auto plan = toy_plan();
  plan.mode = plan::Mode::Run;
  refusal_of(ErrorKind::Usage, [&] { train(task, plan, toy_options(scratch / "mode")); });
  train(task, toy_plan(), toy_options(scratch / "twice"));
  refusal_of(ErrorKind::Usage, [&] { train(task, toy_plan(), toy_options(scratch / "twice")); });
  ToyTask broken(toy_recipe(1));
  broken.data.broken = 4;
  message = refusal_of(ErrorKind::Input,
                       [&] { train(broken, toy_plan(), toy_options(scratch / "broken")); });
  CHECK(contains(message, "sample 4 is broken"));
}
