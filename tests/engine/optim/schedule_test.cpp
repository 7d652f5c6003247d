// SPDX-License-Identifier: Apache-2.0
// Schedules against PyTorch's numbers and their own definitions.
#include "ubique/engine/optim/schedule.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"

using namespace ubique;
using namespace ubique::engine;

namespace {

Recipe recipe_of(const std::string& name, double warmup = 0) {
  Recipe recipe;
  recipe.schedule.name = name;
  recipe.schedule.warmup = warmup;
  recipe.optimizer.lr = 1e-3;
  return recipe;
}

Recipe one_cycle(double warmup) {
  auto recipe = recipe_of("onecycle", warmup);
  recipe.schedule.div_factor = 100;
  return recipe;
}

}  // namespace

TEST_CASE("schedule: linear rises in its warm-up and reaches the floor after the last step") {
  auto recipe = recipe_of("linear");
  recipe.schedule.warmup_steps = 10;
  const auto schedule = make_schedule(recipe, 110);
  CHECK(std::abs(schedule->at(0).lr - 1e-4) < 1e-18);
  CHECK(schedule->at(9).lr == 1e-3);
  for (const std::int64_t step : {20, 50, 109}) {
    const auto expected = 1e-3 * static_cast<double>(110 - step) / (110 - 9);
    CHECK(std::abs(schedule->at(step).lr - expected) < 1e-15);
  }
  CHECK(schedule->at(200).lr == 0);
  recipe.schedule.floor = 0.1;
  CHECK(std::abs(make_schedule(recipe, 110)->at(110).lr - 1e-4) < 1e-18);
}

TEST_CASE("schedule: onecycle has PyTorch's numbers, lr and momentum") {
  const auto schedule = make_schedule(one_cycle(0.01), 7400);
  struct Row {
    std::int64_t step;
    double lr, momentum;
  };
  for (const auto& row : {Row{0, 1.0e-5, 0.95}, Row{73, 1e-3, 0.85},
                          Row{1000, 9.610113409061782e-4, 0.853898869808252},
                          Row{7400, 1.0459732793954945e-9, 0.9499999954026674}}) {
    CAPTURE(row.step);
    const auto rates = schedule->at(row.step);
    CHECK(std::abs(rates.lr - row.lr) < 1e-15);
    CHECK(std::abs(*rates.momentum - row.momentum) < 1e-15);
  }
  CHECK(std::abs(schedule->at(3700).lr - 5.077190865517259e-4) < 1e-15);
  CHECK(schedule->at(11'000).lr == schedule->at(7400).lr);  // a run longer than its schedule
}

TEST_CASE("schedule: onecycle follows PyTorch's golden tables, if present") {
  const std::filesystem::path folder =
      std::filesystem::path(UBIQUE_SOURCE_DIR) / ".." / "shared" / "golden" / "meshnet";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: no golden tables beside the source");
    return;
  }
  for (const char* name : {"meshnet5.json", "meshnet_c3.json"}) {
    const auto table = parse_json(read_file(folder / name), name);
    const auto& training = table["training"];
    const auto schedule =
        make_schedule(one_cycle(training["pct_start"].get<double>()), training["total_steps"]);
    std::size_t rows = 0;
    for (const auto& row : table["schedule"]["rows"]) {
      CAPTURE(row.dump());
      const auto rates = schedule->at(row[0].get<std::int64_t>());
      CHECK(std::abs(rates.lr - row[1].get<double>()) < 1e-15);
      CHECK(std::abs(*rates.momentum - row[2].get<double>()) < 1e-15);
      ++rows;
    }
    CHECK(rows >= 12);
  }
}

TEST_CASE("schedule: onecycle works with one step and without momentum") {
  for (const std::int64_t steps : {1, 2, 4}) {
    const auto schedule = make_schedule(one_cycle(0.25), steps);
    for (std::int64_t step = 0; step < steps; ++step) {
      CHECK(std::isfinite(schedule->at(step).lr));
      CHECK(schedule->at(step).lr <= 1e-3);
    }
  }
  auto plain = one_cycle(0.1);
  plain.optimizer.name = "sgd";
  CHECK_FALSE(make_schedule(plain, 10)->at(3).momentum.has_value());
  plain.optimizer.momentum = 0.9;
  CHECK(make_schedule(plain, 10)->at(3).momentum.has_value());
}

TEST_CASE("schedule: constant and cosine rise over the warm-up, cosine ends at its floor") {
  const auto constant = make_schedule(recipe_of("constant", 0.1), 100);
  CHECK(constant->at(0).lr == doctest::Approx(1e-4));
  CHECK(constant->at(9).lr == doctest::Approx(1e-3));
  CHECK(constant->at(99).lr == 1e-3);
  auto recipe = recipe_of("cosine", 0.1);
  recipe.schedule.floor = 0.05;
  const auto cosine = make_schedule(recipe, 100);
  CHECK(cosine->at(4).lr == doctest::Approx(5e-4));
  CHECK(cosine->at(10).lr == doctest::Approx(1e-3));
  CHECK(cosine->at(99).lr == doctest::Approx(5e-5));
  CHECK(cosine->at(500).lr == doctest::Approx(5e-5));
  const double middle = cosine->at(55).lr;
  CHECK(middle > 4.5e-4);
  CHECK(middle < 5.5e-4);
  CHECK(make_schedule(recipe_of("cosine"), 1)->at(0).lr == doctest::Approx(1e-3));
}

TEST_CASE("schedule: plateau lowers the rate after its patience and remembers across a resume") {
  auto recipe = recipe_of("plateau");
  recipe.watch = "dice";
  recipe.schedule.patience = 1;
  recipe.schedule.factor = 0.5;
  recipe.schedule.min_lr = 3e-4;
  auto schedule = make_schedule(recipe, 100);
  schedule->observe(0.5);
  schedule->observe(0.50001);  // within the threshold: not better
  CHECK(schedule->at(7).lr == 1e-3);
  const auto state = schedule->state();
  schedule = make_schedule(recipe, 100);
  schedule->load(state);
  schedule->observe(0.4);
  CHECK(schedule->at(7).lr == 5e-4);
  schedule->observe(0.9);
  schedule->observe(std::nan(""));
  schedule->observe(0.1);
  CHECK(schedule->at(7).lr == 3e-4);  // not below the least
  recipe.watch.clear();               // the training loss: lower is better
  schedule = make_schedule(recipe, 100);
  for (const double loss : {1.0, 0.9, 0.8, 0.7}) schedule->observe(loss);
  CHECK(schedule->at(0).lr == 1e-3);
}

TEST_CASE("schedule: an unknown name is refused with a suggestion") {
  const auto message =
      test::refusal_of(ErrorKind::Usage, [] { make_schedule(recipe_of("one_cycle"), 10); });
  CHECK(test::contains(message, "Did you mean 'onecycle'?"));
}

TEST_CASE("schedule: the warm-up's share of the run stays within its limits") {
  auto recipe = recipe_of("cosine", 0.1);
  const auto rate_at = [&](std::int64_t step) { return make_schedule(recipe, 1000)->at(step).lr; };
  CHECK(rate_at(49) == doctest::Approx(0.5e-3));  // of 100 steps
  recipe.schedule.warmup_most = 10;
  CHECK(rate_at(4) == doctest::Approx(0.5e-3));
  recipe.schedule.warmup_most = 0;
  recipe.schedule.warmup_least = 400;
  CHECK(rate_at(199) == doctest::Approx(0.5e-3));
}
