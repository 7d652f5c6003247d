// SPDX-License-Identifier: Apache-2.0
// Loss scaling for f16 gradients, which underflow without it. The scale is a power of two, so
// scaling is exact. All state is on the device, in f32 and plain ops: the same on every device.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>

#include "ubique/base/text/json_fwd.h"

namespace ubique::engine {

struct ScalerOptions {
  double initial = 65536;
  double growth = 2, backoff = 0.5;
  std::int64_t interval = 2000;  ///< finite updates in a row before the scale grows
};

class GradScaler {
 public:
  /// If not `enabled`, losses are not scaled at all.
  GradScaler(c10::Device device, bool enabled, ScalerOptions options = {});

  bool enabled() const { return enabled_; }
  at::Tensor scaled(const at::Tensor& loss) const;
  /// The factor that unscales gradients; undefined if disabled.
  at::Tensor inverse() const;
  const at::Tensor& scale() const { return scale_; }  ///< 1 if disabled
  const at::Tensor& tracker() const { return tracker_; }
  /// After every update. `bad`: f32 device scalar, 1 if the gradients were not finite.
  void update(const at::Tensor& bad);

  Json state() const;  ///< waits for the device
  void load(const Json& state);

 private:
  bool enabled_;
  ScalerOptions options_;
  at::Tensor scale_;    // f32 scalar
  at::Tensor tracker_;  // f32 scalar: finite updates since the last change
};

}  // namespace ubique::engine
