// SPDX-License-Identifier: Apache-2.0
#include "ubique/engine/running_mean.h"

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
  const auto way = at::where(counts, value - mean_, nothing);
  constexpr double kTiny = 1e-30;  // before the first value that counts
  mean_.add_(way * share / weight_.clamp_min(kTiny));
}

double RunningMean::mean() const {
  return weight() > 0 ? mean_.item<double>() : std::numeric_limits<double>::quiet_NaN();
}

double RunningMean::weight() const { return weight_.item<double>(); }

}  // namespace ubique::engine
