// SPDX-License-Identifier: Apache-2.0
// Skip counts, copies of statistics, and the gradient norm with scaling and clipping.
#include "ubique/engine/step/nonfinite.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace ubique::engine {

SkipCounter::SkipCounter(c10::Device device)
    : total_(at::zeros({}, at::TensorOptions(at::kFloat).device(device))),
      in_a_row_(at::zeros_like(total_)) {}

void SkipCounter::observe(const at::Tensor& bad) {
  total_.add_(bad);
  in_a_row_.add_(1).mul_(bad);
}

void SkipCounter::load(double total) { total_.fill_(total); }

StatisticsBackup::StatisticsBackup(NamedTensors statistics) : statistics_(std::move(statistics)) {
  for (const auto& [name, tensor] : statistics_) copies_.emplace_back(name, tensor.clone());
}

void StatisticsBackup::save() {
  const c10::NoGradGuard no_gradients;
  for (std::size_t i = 0; i < copies_.size(); ++i) copies_[i].second.copy_(statistics_[i].second);
}

void StatisticsBackup::restore() const {
  const c10::NoGradGuard no_gradients;
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    at::Tensor(statistics_[i].second).copy_(copies_[i].second);
  }
}

void StatisticsBackup::reset_nonfinite() const {
  const c10::NoGradGuard no_gradients;
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    at::Tensor now = statistics_[i].second;
    if (!now.is_floating_point()) continue;
    now.copy_(at::where(now.isfinite(), now, copies_[i].second));
  }
}

namespace {

std::vector<at::Tensor> gradients_in(const NamedTensors& parameters) {
  std::vector<at::Tensor> gradients;
  for (const auto& [name, parameter] : parameters) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  return gradients;
}

}  // namespace

at::Tensor gradient_norm(const NamedTensors& parameters) {
  const c10::NoGradGuard no_gradients;
  const auto gradients = gradients_in(parameters);
  if (gradients.empty()) return {};
  return at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients)));
}

GradientNorm scale_and_clip_gradients(const NamedTensors& parameters, const at::Tensor& of_all,
                                      double factor, const at::Tensor& inverse_scale,
                                      double clip_norm) {
  const c10::NoGradGuard no_gradients;
  const auto gradients = gradients_in(parameters);
  if (!of_all.defined()) {
    const auto none = at::zeros({}, parameters.front().second.options().dtype(at::kFloat));
    return {none, none.clone()};
  }
  auto norm = of_all * factor;
  if (inverse_scale.defined()) norm = norm * inverse_scale;
  if (!inverse_scale.defined() && clip_norm <= 0) {
    if (factor != 1) at::_foreach_mul_(gradients, factor);
  } else {
    auto coefficient =
        inverse_scale.defined() ? inverse_scale * factor : at::full_like(norm, factor);
    if (clip_norm > 0) {
      constexpr double kTiny = 1e-6;  // as in torch: no division by zero
      coefficient = coefficient * at::reciprocal(norm + kTiny).mul(clip_norm).clamp_max(1);
    }
    at::_foreach_mul_(gradients, coefficient);
  }
  return {norm.to(at::kFloat), norm.isfinite().logical_not().to(at::kFloat)};
}

}  // namespace ubique::engine
