// SPDX-License-Identifier: Apache-2.0
// Grids and schedules, computed on the host in f64 and kept in f32.
#include "ubique/nn/diffusion/flow_schedule.h"

#include <fmt/ranges.h>

#include "ubique/base/error.h"
#include "ubique/base/text/names.h"
#include "ubique/base/text/printable.h"

namespace ubique::nn {
namespace {

constexpr NameTable<FlowSolver, 3> kSolvers{
    {{FlowSolver::Euler, "euler"}, {FlowSolver::Heun, "heun"}, {FlowSolver::PingPong, "pingpong"}}};
constexpr std::int64_t kMostSteps = 10000;

/// `count` values from first to last; the first alone if there is one.
std::vector<double> evenly(double first, double last, std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto share = count == 1 ? 0 : static_cast<double>(i) / static_cast<double>(count - 1);
    values.push_back(first + (last - first) * share);
  }
  return values;
}

/// Heun's second prediction of a step is made at the level of the next one.
FlowSchedule with_second_predictions(const FlowSchedule& plain) {
  FlowSchedule both;
  const auto count = plain.timesteps.size();
  for (std::size_t i = 0; i < count; ++i) {
    for (int copy = i == 0 ? 1 : 0; copy < 2; ++copy) {
      both.timesteps.push_back(plain.timesteps[i]);
      both.sigmas.push_back(plain.sigmas[i]);
    }
  }
  both.sigmas.push_back(0);
  return both;
}

FlowSchedule shifted_schedule(const std::vector<double>& levels, const FlowGrid& grid) {
  FlowSchedule schedule;
  const auto scale = static_cast<float>(grid.train_steps);
  for (const auto level : levels) {
    schedule.sigmas.push_back(static_cast<float>(shifted_sigma(level, grid.shift)));
    schedule.timesteps.push_back(schedule.sigmas.back() * scale);
  }
  schedule.sigmas.push_back(0);
  return schedule;
}

void check_grid(const FlowGrid& grid) {
  check(grid.train_steps >= 2 && grid.shift > 0 && grid.sigma_max > 0 && grid.sigma_max <= 1,
        ErrorKind::Usage,
        "[nn.flow] the grid cannot be; got {} levels, shift {}, sigma_max {}, expected 2 or more "
        "levels, a shift above 0 and sigma_max above 0 up to 1.",
        grid.train_steps, grid.shift, grid.sigma_max);
}

}  // namespace

std::string_view to_string(FlowSolver solver) { return name_of(kSolvers, solver); }

FlowSolver parse_flow_solver(std::string_view text) {
  for (const auto& [solver, name] : kSolvers) {
    if (text == name) return solver;
  }
  fail(ErrorKind::Usage, "[nn.flow] unknown solver; got '{}', expected euler, heun or pingpong.",
       printable(std::string(text)));
}

double shifted_sigma(double sigma, double shift) {
  return shift * sigma / (1 + (shift - 1) * sigma);
}

std::vector<float> training_sigmas(const FlowGrid& grid) {
  check_grid(grid);
  const auto count = static_cast<double>(grid.train_steps);
  std::vector<float> sigmas;
  for (const auto step : evenly(count * grid.sigma_max, 1, grid.train_steps)) {
    sigmas.push_back(static_cast<float>(shifted_sigma(step / count, grid.shift)));
  }
  return sigmas;
}

FlowSchedule flow_schedule(FlowSolver solver, std::int64_t steps, const FlowGrid& grid) {
  check(steps >= 1 && steps <= kMostSteps, ErrorKind::Usage,
        "[nn.flow] the number of steps is out of range; got {}, expected 1 to {}.", steps,
        kMostSteps);
  const auto train = training_sigmas(grid);
  const auto plain = shifted_schedule(evenly(train.front(), train.back(), steps), grid);
  return solver == FlowSolver::Heun ? with_second_predictions(plain) : plain;
}

FlowSchedule chosen_steps(FlowSolver solver, const std::vector<std::int64_t>& steps,
                          const FlowGrid& grid) {
  check(solver != FlowSolver::Heun, ErrorKind::Usage,
        "[nn.flow] Heun's method has no choice of steps; expected euler or pingpong.");
  bool ascending = !steps.empty() && steps.front() >= 1;
  for (std::size_t i = 1; i < steps.size(); ++i) ascending = ascending && steps[i] > steps[i - 1];
  check(ascending, ErrorKind::Usage,
        "[nn.flow] chosen steps must ascend; got {}, expected numbers from 1, each above the last.",
        fmt::join(steps, ","));
  const auto all = flow_schedule(solver, steps.back(), grid);
  std::vector<double> levels;
  for (const auto step : steps) {
    levels.push_back(all.timesteps[static_cast<std::size_t>(step - 1)] /
                     static_cast<double>(grid.train_steps));
  }
  return shifted_schedule(levels, grid);
}

}  // namespace ubique::nn
