// SPDX-License-Identifier: Apache-2.0
// Growth and backoff of the scale, on the device.
#include "ubique/engine/optim/scaler.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "ubique/base/text/json.h"

namespace ubique::engine {

GradScaler::GradScaler(c10::Device device, bool enabled, ScalerOptions options)
    : enabled_(enabled), options_(options) {
  const auto f32 = at::TensorOptions(at::kFloat).device(device);
  scale_ = at::full({}, enabled ? options.initial : 1.0, f32);
  tracker_ = at::zeros({}, f32);
}

at::Tensor GradScaler::scaled(const at::Tensor& loss) const {
  return enabled_ ? loss * scale_ : loss;
}

at::Tensor GradScaler::inverse() const { return enabled_ ? scale_.reciprocal() : at::Tensor(); }

void GradScaler::update(const at::Tensor& bad) {
  if (!enabled_) return;
  const c10::NoGradGuard no_gradients;
  const auto is_bad = bad.gt(0);
  const auto good_in_a_row = tracker_ + 1;
  const auto is_due = good_in_a_row.ge(static_cast<double>(options_.interval));
  const auto grown = scale_ * options_.growth;
  const auto next = at::where(is_due.logical_and(grown.isfinite()), grown, scale_);
  scale_.copy_(at::where(is_bad, scale_ * options_.backoff, next));
  tracker_.copy_(at::where(is_bad.logical_or(is_due), at::zeros_like(tracker_), good_in_a_row));
}

Json GradScaler::state() const {
  return {{"scale", scale_.item<double>()}, {"tracker", tracker_.item<double>()}};
}

void GradScaler::load(const Json& state) {
  if (!enabled_ || !state.is_object()) return;
  scale_.fill_(state.value("scale", options_.initial));
  tracker_.fill_(state.value("tracker", 0.0));
}

}  // namespace ubique::engine
