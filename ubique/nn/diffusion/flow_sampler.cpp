// SPDX-License-Identifier: Apache-2.0
// Euler, Heun and PingPong steps.
#include "ubique/nn/diffusion/flow_sampler.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numeric>

#include "ubique/base/error.h"

namespace ubique::nn {

double omega_factor(double omega) { return 0.9 + 0.2 / (1 + std::exp(-0.1 * omega)); }

FlowSampler::FlowSampler(FlowSchedule schedule, const FlowSamplerOptions& options)
    : schedule_(std::move(schedule)), options_(options) {}

at::Tensor FlowSampler::stretched(const at::Tensor& change) const {
  const auto factor = omega_factor(options_.omega);
  if (factor == 1) return change;
  std::vector<std::int64_t> all(static_cast<std::size_t>(change.dim()));
  std::iota(all.begin(), all.end(), 0);
  if (!options_.batch_mean) all.erase(all.begin());
  const auto mean = change.mean(all, true);
  return (change - mean) * factor + mean;
}

at::Tensor FlowSampler::heun_step(std::size_t i, const at::Tensor& x, const at::Tensor& velocity) {
  const bool second = first_velocity_.defined();
  if (!second) {
    first_velocity_ = velocity;
    first_sample_ = x;
    return x + stretched(velocity * (schedule_.sigmas[i + 1] - schedule_.sigmas[i]));
  }
  const auto mean = (first_velocity_ + velocity) * 0.5;
  const auto y = first_sample_ + stretched(mean * (schedule_.sigmas[i] - schedule_.sigmas[i - 1]));
  first_velocity_ = first_sample_ = at::Tensor();
  return y;
}

at::Tensor FlowSampler::step(std::size_t i, const at::Tensor& x, const at::Tensor& velocity,
                             const at::Tensor& noise) {
  check(i < predictions(), ErrorKind::Internal, "[nn.flow] prediction {} of {}.", i, predictions());
  const auto sample = x.to(at::kFloat), v = velocity.to(at::kFloat);
  const auto now = schedule_.sigmas[i], next = schedule_.sigmas[i + 1];
  switch (options_.solver) {
    case FlowSolver::Heun:
      return heun_step(i, sample, v);
    case FlowSolver::PingPong:
      return (sample - v * now) * (1 - next) + noise * next;
    case FlowSolver::Euler:
      break;
  }
  return sample + stretched(v * (next - now));
}

}  // namespace ubique::nn
