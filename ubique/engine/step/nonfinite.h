// SPDX-License-Identifier: Apache-2.0
// What keeps one bad batch from spoiling a run: gradients that are not finite are counted (the
// optimizer skips them), and batch norm's statistics go back to what they were. Nothing here waits
// for the device.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include "ubique/engine/contract/batch.h"

namespace ubique::engine {

/// Skipped updates as f32 device scalars.
class SkipCounter {
 public:
  explicit SkipCounter(c10::Device device);
  void observe(const at::Tensor& bad);  ///< 1 = skipped, 0 = made
  const at::Tensor& total() const { return total_; }
  const at::Tensor& in_a_row() const { return in_a_row_; }
  void load(double total);

 private:
  at::Tensor total_, in_a_row_;
};

class StatisticsGuard {
 public:
  explicit StatisticsGuard(NamedTensors statistics);
  void remember();               ///< before a forward pass
  void restore() const;          ///< all as remembered
  void reset_nonfinite() const;  ///< only values that are not finite
  const NamedTensors& remembered() const { return copies_; }

 private:
  NamedTensors statistics_, copies_;
};

struct GradientFacts {
  at::Tensor norm;  ///< f32 device scalar, of all gradients together, before clipping
  at::Tensor bad;   ///< f32 device scalar: 1 if that norm is not finite
};

/// Multiplies the gradients by `factor` (and by `inverse_scale`, if defined) and clips them to
/// `clip_norm` (0 = not), in one pass over memory or, where there is nothing to do, none.
GradientFacts settle_gradients(const NamedTensors& parameters, double factor,
                               const at::Tensor& inverse_scale, double clip_norm);

}  // namespace ubique::engine
