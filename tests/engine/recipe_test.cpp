// SPDX-License-Identifier: Apache-2.0
#include "ubique/engine/recipe.h"

#include <doctest/doctest.h>

#include "../base/scratch.h"

using namespace ubique;
using namespace ubique::engine;

TEST_CASE("recipe: keys override the family's defaults, the others stay") {
  Recipe defaults;
  defaults.optimizer.eps = 1e-4;
  defaults.schedule.name = "onecycle";
  auto config = Config::from_text(
      "epochs: 7\nwd: 3e-5\nlr: 1e-2\nwarmup: 0.01\ndiv_factor: 100\nema: 0.99\nseed: 43\n"
      "watch: dice\nclip_norm: 1\noptimizer: sgd\nmomentum: 0.9\nnesterov: true\n",
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
  CHECK(recipe.schedule.div_factor == 100);
  CHECK(recipe.ema_decay == 0.99);
  CHECK(recipe.watch == "dice");
  CHECK(recipe.seed == 43);
  CHECK(recipe.keep == defaults.keep);
}

TEST_CASE("recipe: values that cannot be are refused by name and place") {
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
