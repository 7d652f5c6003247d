// SPDX-License-Identifier: Apache-2.0
// Steps of a flow-matching sampler from a predicted velocity.
#pragma once

#include <ATen/core/Tensor.h>

#include "ubique/nn/diffusion/flow_schedule.h"

namespace ubique::nn {

/// How much a step is stretched about its mean: 0.9 + 0.2 / (1 + exp(-0.1·omega)); 1 for 0.
double omega_factor(double omega);

struct FlowSamplerOptions {
  FlowSolver solver = FlowSolver::Euler;
  double omega = 0;  ///< see omega_factor(); not used by PingPong
  /// The mean of a step is taken over the whole batch instead of each item: the original's numbers,
  /// where items of a batch influence each other.
  bool batch_mean = false;
};

class FlowSampler {
 public:
  FlowSampler(FlowSchedule schedule, const FlowSamplerOptions& options);

  const FlowSchedule& schedule() const { return schedule_; }
  std::size_t predictions() const { return schedule_.timesteps.size(); }
  bool needs_noise() const { return options_.solver == FlowSolver::PingPong; }
  /// The sample after prediction i, which must be asked for in order: x and velocity of one shape,
  /// `noise` of the same for PingPong. In f32.
  at::Tensor step(std::size_t i, const at::Tensor& x, const at::Tensor& velocity,
                  const at::Tensor& noise = {});

 private:
  at::Tensor stretched(const at::Tensor& change) const;
  at::Tensor heun_step(std::size_t i, const at::Tensor& x, const at::Tensor& velocity);

  FlowSchedule schedule_;
  FlowSamplerOptions options_;
  at::Tensor first_velocity_, first_sample_;  // of Heun's first prediction in a step
};

}  // namespace ubique::nn
