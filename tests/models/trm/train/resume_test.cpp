// SPDX-License-Identifier: Apache-2.0
// Whole training runs, stopped at any step and resumed, on any device.
#include "tests/engine/runs.h"
#include "training_samples.h"

using namespace ubique;
using namespace ubique::test;

namespace {

struct EndedRun {
  std::vector<double> losses;
  engine::NamedTensors state;
  engine::TrainResult result;
};

using Settings = std::vector<std::pair<std::string, std::string>>;

/// A run that is stopped after each of these steps and resumed by new objects.
EndedRun run_with_stops(const std::filesystem::path& data, const std::filesystem::path& folder,
                        const plan::Plan& plan, const std::vector<std::int64_t>& stops,
                        const Settings& settings = {}) {
  auto options = trm_train_options_in(folder);
  std::int64_t done = 0;
  for (const auto stop : stops) {
    auto task = trm::make_task(small_request(data, settings));
    options.stop_requested = [&] { return ++done == stop; };
    const auto result = engine::train(*task, plan, options);
    CHECK(result.interrupted);
    CHECK(result.steps == stop);
    options.resume = true;
  }
  auto task = trm::make_task(small_request(data, settings));
  options.stop_requested = nullptr;
  auto result = engine::train(*task, plan, options);
  return {losses_of(folder), whole_state(task->model()), std::move(result)};
}

void check_same_run(const EndedRun& a, const EndedRun& b) {
  CHECK(a.losses == b.losses);
  REQUIRE(a.state.size() == b.state.size());
  for (std::size_t i = 0; i < a.state.size(); ++i) {
    CAPTURE(a.state[i].first);
    CHECK(at::equal(a.state[i].second, b.state[i].second));
  }
  CHECK(a.result.scores == b.result.scores);
  CHECK(a.result.best_epoch == b.result.best_epoch);
}

}  // namespace

TEST_CASE("trm run: stopped anywhere, it resumes bit for bit, with the puzzles in their slots") {
  const ScratchFolder scratch;
  write_small_sudokus(scratch / "data", 10, 6);
  const auto whole = run_with_stops(scratch / "data", scratch / "whole", trm_plan(), {});
  REQUIRE(whole.losses.size() == 10);  // two epochs of 2 passes through 10 puzzles, by four
  const auto steps = engine::find_tensor(whole.state, "carry.steps");
  CHECK(steps.max().item<int>() > 1);  // otherwise no state was kept between updates
  check_same_run(whole, run_with_stops(scratch / "data", scratch / "a", trm_plan(), {2}));
  check_same_run(whole, run_with_stops(scratch / "data", scratch / "b", trm_plan(), {3, 7, 8}));
}

TEST_CASE("trm run: a run can be resumed with other micro-batches of the same batch") {
  const ScratchFolder scratch;
  write_small_sudokus(scratch / "data", 10, 6);
  auto options = trm_train_options_in(scratch / "run");
  std::int64_t done = 0;
  options.stop_requested = [&] { return ++done == 3; };
  auto first = trm::make_task(small_request(scratch / "data", {}));
  engine::train(*first, trm_plan(4), options);
  options.resume = true;
  options.stop_requested = nullptr;
  auto second = trm::make_task(small_request(scratch / "data", {}));
  CHECK(engine::train(*second, trm_plan(2, 2), options).steps == 10);
}

TEST_CASE(
    "trm run: without exploration and augmentation, micro-batches give the losses of the whole "
    "batch") {
  const ScratchFolder scratch;
  write_small_sudokus(scratch / "data", 10, 6);
  const Settings plain = {{"arch.halt_exploration_prob", "0"}, {"augment", "false"}};
  const auto whole = run_with_stops(scratch / "data", scratch / "a", trm_plan(4), {}, plain);
  const auto parts = run_with_stops(scratch / "data", scratch / "b", trm_plan(1, 4), {}, plain);
  REQUIRE(whole.losses.size() == parts.losses.size());
  // The table moves by the sign of a gradient, which rounding decides where it is nearly 0.
  const double near = device_name() == "cuda" ? 2e-2 : 1e-3;
  for (std::size_t i = 0; i < whole.losses.size(); ++i) {
    CHECK(parts.losses[i] == doctest::Approx(whole.losses[i]).epsilon(near));
  }
}

TEST_CASE("trm run: frozen weights stay, the puzzle table is trained") {
  const ScratchFolder scratch;
  write_small_sudokus(scratch / "data", 8, 0);
  const Settings settings = {{"freeze_weights", "true"}, {"epochs", "2"}, {"eval_interval", "2"}};
  auto fresh = trm::make_task(small_request(scratch / "data", settings));
  fresh->model().initialize(Random(0, 1));
  const auto ended = run_with_stops(scratch / "data", scratch / "run", trm_plan(), {}, settings);
  auto again = trm::make_task(small_request(scratch / "data", settings));
  auto options = trm_train_options_in(scratch / "other");
  options.stop_requested = [] { return true; };
  engine::train(*again, trm_plan(), options);
  const auto early = whole_state(again->model());
  for (const auto& [name, value] : ended.state) {
    if (name.starts_with("carry.")) continue;
    CAPTURE(name);
    CHECK(at::equal(value, engine::find_tensor(early, name)) ==
          !name.ends_with("puzzle_emb.weights"));
  }
}

TEST_CASE("trm run: the final scores are of all held-out puzzles, with averaged weights") {
  const ScratchFolder scratch;
  write_small_sudokus(scratch / "data", 10, 6);
  const auto ended =
      run_with_stops(scratch / "data", scratch / "run", trm_plan(), {}, {{"eval_subset", "2"}});
  const auto score = [&](const std::string& name) {
    for (const auto& [known, value] : ended.result.scores) {
      if (known == name) return value;
    }
    return -1.0;
  };
  CHECK(score("accuracy") > 0);
  CHECK(score("accuracy") <= 1);
  CHECK(score("steps") == 4);
  CHECK(score("steps_early") <= 4);
  CHECK(std::abs(score("accuracy") * 96 - std::round(score("accuracy") * 96)) < 1e-3);  // 6 x 16
}

TEST_CASE("trm run: recorded updates equal those launched one by one, also in a stopped run") {
  const ScratchFolder scratch;
  write_small_sudokus(scratch / "data", 10, 6);
  const auto plain = run_with_stops(scratch / "data", scratch / "plain", trm_plan(), {});
  auto recorded = trm_plan();
  recorded.graph_capture.value = true;  // without support for recording, launches one by one
  for (const auto& stops : {std::vector<std::int64_t>{}, std::vector<std::int64_t>{3}}) {
    const auto folder = scratch / fmt::format("recorded-{}", stops.size());
    const auto run = run_with_stops(scratch / "data", folder, recorded, stops);
    REQUIRE(run.losses.size() == plain.losses.size());
    for (std::size_t i = 0; i < run.losses.size(); ++i) {
      CHECK(run.losses[i] == doctest::Approx(plain.losses[i]).epsilon(1e-4));
    }
    const auto steps = engine::find_tensor(run.state, "carry.steps");
    CHECK(at::equal(steps, engine::find_tensor(plain.state, "carry.steps")));
  }
}
