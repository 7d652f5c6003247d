// SPDX-License-Identifier: Apache-2.0
// Protection against non-finite gradients: such updates are detected and counted (the optimizer
// skips them), and non-finite batch norm statistics are restored. Nothing here waits for the
// device.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include "ubique/engine/contract/batch.h"

namespace ubique::engine {

/// Counts skipped updates, in f32 device scalars.
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

/// A copy of batch norm's running statistics from before a forward pass.
class StatisticsBackup {
 public:
  explicit StatisticsBackup(NamedTensors statistics);
  void save();                   ///< call before a forward pass
  void restore() const;          ///< restores all values
  void reset_nonfinite() const;  ///< restores only values that are not finite
  const NamedTensors& saved() const { return copies_; }

 private:
  NamedTensors statistics_, copies_;
};

struct GradientNorm {
  at::Tensor norm;  ///< f32 device scalar: of all gradients together, before clipping
  at::Tensor bad;   ///< f32 device scalar: 1 if that norm is not finite
};

/// f32 device scalar: of all gradients together; undefined if there are none.
at::Tensor gradient_norm(const NamedTensors& parameters);
/// Multiplies the gradients, which have that norm, by `factor` (and by `inverse_scale`, if defined)
/// and clips them to `clip_norm` (0 = no clipping), in at most one pass over memory.
GradientNorm scale_and_clip_gradients(const NamedTensors& parameters, const at::Tensor& norm,
                                      double factor, const at::Tensor& inverse_scale,
                                      double clip_norm);

}  // namespace ubique::engine
