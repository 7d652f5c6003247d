// SPDX-License-Identifier: Apache-2.0
// Noise levels of flow matching: the grid that training draws from, and the steps that sampling
// takes. A level sigma mixes (1 - sigma)·data + sigma·noise; timesteps are 1000·sigma.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ubique::nn {

enum class FlowSolver {
  Euler,
  Heun,      ///< second order: two predictions per step
  PingPong,  ///< to the data and back with fresh noise
};

std::string_view to_string(FlowSolver solver);
FlowSolver parse_flow_solver(std::string_view text);  ///< Usage error that lists the names

struct FlowGrid {
  std::int64_t train_steps = 1000;
  double shift = 3;      ///< moves levels towards noise
  double sigma_max = 1;  ///< the grid begins below it, before shifting
};

/// shift·sigma / (1 + (shift - 1)·sigma).
double shifted_sigma(double sigma, double shift);
/// The levels that training draws from, highest first; shifted once.
std::vector<float> training_sigmas(const FlowGrid& grid);

struct FlowSchedule {
  std::vector<float> timesteps;  ///< of each prediction
  std::vector<float> sigmas;     ///< of each prediction, then 0
};

/// `steps` levels evenly between the ends of the training grid, shifted once more: the samplers of
/// these models shift twice. Usage error for less than one step.
FlowSchedule flow_schedule(FlowSolver solver, std::int64_t steps, const FlowGrid& grid = {});
/// The chosen steps, counted from 1, of a schedule with as many as the last of them; shifted a
/// third time. Usage error unless they ascend from 1 or more, and for Heun.
FlowSchedule chosen_steps(FlowSolver solver, const std::vector<std::int64_t>& steps,
                          const FlowGrid& grid = {});

}  // namespace ubique::nn
