// SPDX-License-Identifier: Apache-2.0
// Both means as f32 device tensors.
#include "ubique/engine/step/device_means.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace ubique::engine {

RunningMean::RunningMean(c10::Device device, double mean, double weight) {
  const auto f32 = at::TensorOptions(at::kFloat).device(device);
  mean_ = at::full({}, std::isfinite(mean) ? mean : 0, f32);
  weight_ = at::full({}, weight, f32);
}

void RunningMean::add(const at::Tensor& value, double weight) {
  const auto counts = value.isfinite();
  const auto nothing = at::zeros_like(mean_);
  const auto share = at::where(counts, at::full_like(mean_, weight), nothing);
  weight_.add_(share);
  const auto difference = at::where(counts, value - mean_, nothing);
  constexpr double kTiny = 1e-30;  // no division by zero before the first finite value
  mean_.add_(difference * share / weight_.clamp_min(kTiny));
}

double RunningMean::mean() const {
  return weight() > 0 ? mean_.item<double>() : std::numeric_limits<double>::quiet_NaN();
}

double RunningMean::weight() const { return weight_.item<double>(); }

void RatioSums::add(const std::vector<Ratio>& ratios) {
  if (ratios.empty()) return;
  std::vector<at::Tensor> values;
  for (const auto& ratio : ratios) values.push_back(ratio.sum.to(at::kFloat).reshape({}));
  for (const auto& ratio : ratios) values.push_back(ratio.count.to(at::kFloat).reshape({}));
  const auto now = at::stack(values).view({2, -1});
  if (!sums_.defined()) {
    for (const auto& ratio : ratios) names_.push_back(ratio.name);
    sums_ = at::zeros_like(now);
  }
  sums_.add_(now);
}

std::vector<at::Tensor> RatioSums::scalars() const {
  return sums_.defined() ? sums_.flatten().unbind() : std::vector<at::Tensor>();
}

Scores RatioSums::means(std::span<const double> values) const {
  Scores means;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const double count = values[names_.size() + i];
    if (count > 0) means.emplace_back(names_[i], values[i] / count);
  }
  return means;
}

void RatioSums::clear() {
  if (sums_.defined()) sums_.zero_();
}

}  // namespace ubique::engine
