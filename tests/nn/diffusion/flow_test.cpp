// SPDX-License-Identifier: Apache-2.0
// Schedules, steps and guidance against the original's numbers and against their definitions.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "tests/shared.h"
#include "tests/tensors.h"
#include "ubique/base/error.h"
#include "ubique/nn/diffusion/flow_sampler.h"
#include "ubique/nn/diffusion/guidance.h"

using namespace ubique;
using test::distance, test::random_tensor, test::relative_distance;

namespace {

constexpr nn::FlowSolver kFlowSolvers[] = {nn::FlowSolver::Euler, nn::FlowSolver::Heun,
                                           nn::FlowSolver::PingPong};

std::map<std::string, at::Tensor> golden_flow(const std::string& name) {
  const auto folder = test::shared_folder("golden/acestep");
  if (folder.empty()) return {};
  return test::by_name(test::read_tensors(folder / name));
}

at::Tensor as_tensor(const std::vector<float>& values) {
  return at::tensor(at::ArrayRef<float>(values));
}

void check_schedule(const std::map<std::string, at::Tensor>& golden, const std::string& name,
                    const nn::FlowSchedule& schedule) {
  CAPTURE(name);
  CHECK(relative_distance(as_tensor(schedule.sigmas), golden.at(name + ".sigmas")) < 2e-6);
  CHECK(relative_distance(as_tensor(schedule.timesteps), golden.at(name + ".timesteps")) < 2e-6);
}

}  // namespace

TEST_CASE("flow schedule: grids and steps of the three solvers are the original's") {
  const auto golden = golden_flow("sched/tables.safetensors");
  if (golden.empty()) return;
  for (const auto solver : kFlowSolvers) {
    const std::string name(nn::to_string(solver));
    const auto train = as_tensor(nn::training_sigmas({}));
    CHECK(relative_distance(train, golden.at(name + ".train.sigmas")) < 2e-6);
    CHECK(relative_distance(train * 1000, golden.at(name + ".train.timesteps")) < 2e-6);
    for (const std::int64_t steps : {2, 8, 27, 60}) {
      check_schedule(golden, fmt::format("{}.N{}", name, steps), nn::flow_schedule(solver, steps));
    }
    const nn::FlowGrid half{.sigma_max = 0.5};
    check_schedule(golden, name + ".sigma_max.N8", nn::flow_schedule(solver, 8, half));
    const auto ends = nn::training_sigmas(half);
    CHECK(relative_distance(as_tensor({ends.front(), ends.back()}),
                            golden.at(name + ".sigma_max.value")) < 2e-6);
    if (solver == nn::FlowSolver::Heun) continue;
    check_schedule(golden, name + ".oss", nn::chosen_steps(solver, {3, 5, 8, 12}));
  }
}

TEST_CASE("flow sampler: chained steps are the original's for every omega") {
  const auto golden = golden_flow("sched/steps.safetensors");
  if (golden.empty()) return;
  for (const auto solver : kFlowSolvers) {
    for (const double omega : {10.0, 0.0, -5.0}) {
      const auto name = fmt::format("{}.omega{:.1f}.step", nn::to_string(solver), omega);
      if (!golden.contains(name + "0")) continue;
      nn::FlowSampler sampler(nn::flow_schedule(solver, 4),
                              {.solver = solver, .omega = omega, .batch_mean = true});
      auto x = golden.at("in.sample0");
      for (std::size_t i = 0; golden.contains(fmt::format("{}{}", name, i)); ++i) {
        CAPTURE(name);
        CAPTURE(i);
        const auto noise = sampler.needs_noise() ? golden.at(fmt::format("in.noise{}", i)) : x;
        x = sampler.step(i, x, golden.at(fmt::format("in.model_output{}", i)), noise);
        CHECK(relative_distance(x, golden.at(fmt::format("{}{}", name, i))) < 2e-6);
      }
    }
    CHECK(std::abs(nn::omega_factor(10) - golden.at("omega_rescaled.10.0").item<double>()) < 1e-12);
  }
}

TEST_CASE("guidance: every kind gives the original's numbers") {
  const auto golden = golden_flow("guidance/guidance.safetensors");
  if (golden.empty()) return;
  const auto cond = golden.at("in.cond0"), null = golden.at("in.uncond0");
  const double scale = 7.5;
  nn::ApgState state;
  for (const std::string call : {"0", "1", "2"}) {
    CAPTURE(call);
    const auto guided =
        nn::apg_guidance(golden.at("in.cond" + call), golden.at("in.uncond" + call), scale, &state);
    CHECK(relative_distance(guided, golden.at("apg.call" + call)) < 2e-6);
    CHECK(relative_distance(state.running, golden.at("apg.buffer" + call)) < 2e-6);
  }
  CHECK(relative_distance(nn::apg_guidance(cond, null, scale, nullptr),
                          golden.at("apg.no_buffer")) < 2e-6);
  CHECK(relative_distance(nn::cfg_guidance(cond, null, scale), golden.at("cfg")) < 2e-6);
  for (const std::int64_t step : {0, 1, 2}) {
    CHECK(relative_distance(nn::cfg_star_guidance(cond, null, scale, step),
                            golden.at(fmt::format("cfg_star.i{}", step))) < 2e-6);
  }
  CHECK(relative_distance(nn::double_guidance(cond, golden.at("in.only_text"), null, 7.5, 3),
                          golden.at("double")) < 2e-6);
}

TEST_CASE("flow sampler: a constant velocity is followed exactly and items do not mix") {
  const auto x = random_tensor({2, 3, 4, 5}, 1), v = random_tensor({2, 3, 4, 5}, 2);
  for (const auto solver : {nn::FlowSolver::Euler, nn::FlowSolver::Heun}) {
    nn::FlowSampler sampler(nn::flow_schedule(solver, 5), {.solver = solver});
    auto y = x;
    for (std::size_t i = 0; i < sampler.predictions(); ++i) y = sampler.step(i, y, v);
    CHECK(distance(y, x - v) < 1e-5);  // from level 1 to level 0
  }
  nn::FlowSampler both(nn::flow_schedule(nn::FlowSolver::Euler, 3), {.omega = 10});
  nn::FlowSampler alone(nn::flow_schedule(nn::FlowSolver::Euler, 3), {.omega = 10});
  CHECK(distance(both.step(0, x, v).slice(0, 1), alone.step(0, x.slice(0, 1), v.slice(0, 1))) == 0);
}

TEST_CASE("flow schedule: absurd numbers of steps and choices are refused") {
  CHECK_THROWS_AS(nn::flow_schedule(nn::FlowSolver::Euler, 0), Error);
  CHECK_THROWS_AS(nn::flow_schedule(nn::FlowSolver::Euler, 1 << 30), Error);
  CHECK_THROWS_AS(nn::flow_schedule(nn::FlowSolver::Euler, 4, {.shift = 0}), Error);
  CHECK_THROWS_AS(nn::chosen_steps(nn::FlowSolver::Heun, {1, 2}), Error);
  CHECK_THROWS_AS(nn::chosen_steps(nn::FlowSolver::Euler, {3, 2}), Error);
  CHECK_THROWS_AS(nn::chosen_steps(nn::FlowSolver::Euler, {0, 2}), Error);
  CHECK_THROWS_AS(nn::chosen_steps(nn::FlowSolver::Euler, {}), Error);
  CHECK_THROWS_AS(nn::parse_flow_solver("rk45"), Error);
  CHECK(nn::parse_flow_solver("heun") == nn::FlowSolver::Heun);
  CHECK(nn::flow_schedule(nn::FlowSolver::Euler, 1).timesteps == std::vector<float>{1000});
}

TEST_CASE("guidance: the window is the middle, a window of one step has the full scale") {
  const auto window = nn::guidance_window(27, 0.5);
  CHECK(window.first == 6);
  CHECK(window.last == 20);
  CHECK(!window.contains(20));
  CHECK(nn::decayed_scale(window, 6, 15, 3, 1) == 15);
  CHECK(nn::decayed_scale(window, 19, 15, 3, 1) == 3);
  CHECK(nn::decayed_scale(window, 12, 15, 3, 0) == 15);
  CHECK(nn::decayed_scale({.first = 1, .last = 2}, 1, 15, 3, 1) == 15);
  CHECK_THROWS_AS(nn::guidance_window(10, 1.5), Error);
}
