// SPDX-License-Identifier: Apache-2.0
// Recipes read from a configuration: overrides, refusals, warnings.
#include "ubique/engine/contract/recipe.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"

using namespace ubique;
using namespace ubique::engine;

TEST_CASE("recipe: keys override the family's defaults, the others stay") {
  Recipe defaults;
  defaults.optimizer.eps = 1e-4;
  defaults.schedule.name = "onecycle";
  auto config = Config::from_text(
      "epochs: 7\nwd: 3e-5\nlr: 1e-2\nwarmup: 0.01\ndiv_factor: 100\nema: 0.99\nseed: 43\n"
      "watch: dice\nclip_norm: 1\noptimizer: sgd\nmomentum: 0.9\nnesterov: true\n"
      "schedule_steps: 90\n",
      "run.yaml");
  const auto recipe = read_recipe(config, defaults);
  config.finish();
  CHECK(recipe.epochs == 7);
  CHECK(recipe.optimizer.weight_decay == 3e-5);
  CHECK(recipe.optimizer.lr == 1e-2);
  CHECK(recipe.optimizer.eps == 1e-4);
  CHECK(recipe.optimizer.nesterov);
  CHECK(recipe.schedule.name == "onecycle");
  CHECK(recipe.schedule.warmup == 0.01);
  CHECK(recipe.schedule.steps == 90);
  CHECK(recipe.schedule.div_factor == 100);
  CHECK(recipe.ema_decay == 0.99);
  CHECK(recipe.watch == "dice");
  CHECK(recipe.seed == 43);
  CHECK(recipe.keep == defaults.keep);
}

TEST_CASE("recipe: invalid values are refused by name and source") {
  for (const char* line : {"epochs: 0", "lr: -1", "beta1: 1", "warmup: 1.5", "ema: 1", "keep: 0",
                           "max_bad_steps: 0", "validate_every: 0", "momentum: 2", "seed: -1"}) {
    CAPTURE(line);
    const auto config = Config::from_text(line, "run.yaml");
    const auto message = test::refusal_of(ErrorKind::Usage, [&] { read_recipe(config, Recipe{}); });
    const std::string text = line;
    CHECK(test::contains(message, text.substr(0, text.find(':')) + " is out of range"));
    CHECK(test::contains(message, "run.yaml:1"));
  }
  const auto config = Config::from_text("nesterov: true", "run.yaml");
  test::refusal_of(ErrorKind::Usage, [&] { read_recipe(config, Recipe{}); });
}

TEST_CASE("recipe: averages by a decay, or on and off with a rate beside it") {
  const auto ema_of = [](const char* text, double family) {
    Recipe defaults;
    defaults.ema_decay = family;
    const auto config = Config::from_text(text, "run.yaml");
    const auto recipe = read_recipe(config, defaults);
    config.finish();
    return recipe.ema_decay;
  };
  CHECK(ema_of("ema: True\n", 0) == 0.999);
  CHECK(ema_of("ema: true\nema_rate: 0.9\n", 0) == 0.9);
  CHECK(ema_of("ema: False\nema_rate: 0.9\n", 0.99) == 0);
  CHECK(ema_of("ema_rate: 0.9\n", 0.99) == 0.9);
  CHECK(ema_of("ema_rate: 0.9\n", 0) == 0);
  CHECK(ema_of("ema: 0.5\n", 0.99) == 0.5);
  CHECK(ema_of("lr: 1\n", 0.99) == 0.99);
}

TEST_CASE("recipe: a flag overrides a file that uses the setting's other name") {
  for (const auto& [flag, file] : {std::pair{"weight_decay", "wd"},
                                   {"wd", "weight_decay"},
                                   {"clip_norm", "grad_clip_norm"},
                                   {"grad_clip_norm", "clip_norm"},
                                   {"lr_floor", "lr_min_ratio"},
                                   {"ema_rate", "ema"}}) {
    CAPTURE(flag);
    auto config = Config::from_text(std::string(file) + ": 0.5\n", "run.yaml");
    config.set_environment({});
    config.set_flag(flag, "0.25");
    const auto recipe = read_recipe(config, {});
    const std::string key = flag;
    CHECK((key == "clip_norm" || key == "grad_clip_norm" ? recipe.clip_norm
           : key == "lr_floor"                           ? recipe.schedule.floor
           : key == "ema_rate"                           ? recipe.ema_decay
                                                         : recipe.optimizer.weight_decay) == 0.25);
    config.finish();
  }
}

TEST_CASE("recipe: a share of warm-up overrides the family's number of steps") {
  Recipe defaults;
  defaults.schedule.warmup_steps = 2000;
  const auto read = [&](const char* text) {
    return read_recipe(Config::from_text(text, "run.yaml"), defaults).schedule;
  };
  CHECK(read("lr: 1\n").warmup_steps == 2000);
  CHECK(read("warmup_steps: 5\n").warmup_steps == 5);
  CHECK_FALSE(read("warmup: 0.1\n").warmup_steps.has_value());
}

TEST_CASE("recipe: the direction of a watched score follows from its name unless set") {
  Recipe defaults;
  defaults.watch = "dice";
  const auto higher = [&](const char* text) {
    return read_recipe(Config::from_text(text, "run.yaml"), defaults).watch_higher;
  };
  CHECK(higher("lr: 1\n"));
  CHECK(higher("watch: accuracy\n"));
  CHECK_FALSE(higher("watch: lm_loss\n"));
  CHECK(higher("watch: lm_loss\nwatch_higher: true\n"));
  defaults.watch_higher = false;
  CHECK_FALSE(higher("watch: dice\n"));  // the family knows its own
}

TEST_CASE("recipe: a run too short for its recipe gets a warning") {
  Recipe recipe;
  CHECK(doubts_about(recipe, 1).empty());
  recipe.schedule.warmup_steps = 100;
  recipe.ema_decay = 0.999;
  auto doubts = doubts_about(recipe, 10);
  REQUIRE(doubts.size() == 2);
  CHECK(test::contains(doubts[0], "100 updates of warm-up, 10 in all"));
  CHECK(test::contains(doubts[1], "still 99 % of the first weights after 10 updates"));
  CHECK(doubts_about(recipe, 100).size() == 2);
  CHECK(doubts_about(recipe, 101).size() == 1);
  CHECK(doubts_about(recipe, 1000).empty());
}

TEST_CASE("recipe: a share of warm-up has limits in steps, which must not contradict") {
  const auto config =
      Config::from_text("warmup: 0.1\nwarmup_steps_min: 20\nwarmup_steps_max: 200\n", "run.yaml");
  const auto recipe = read_recipe(config, Recipe{});
  config.finish();
  CHECK(recipe.schedule.warmup_least == 20);
  CHECK(recipe.schedule.warmup_most == 200);
  const auto wrong = Config::from_text("warmup_steps_min: 20\nwarmup_steps_max: 10\n", "run.yaml");
  const auto message = test::refusal_of(ErrorKind::Usage, [&] { read_recipe(wrong, Recipe{}); });
  CHECK(test::contains(message, "run.yaml:1"));
}
