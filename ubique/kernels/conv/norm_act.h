// SPDX-License-Identifier: Apache-2.0
// Everything between two convolutions: normalisation with the batch's (or sample's) statistics,
// activation, channel dropout. Forward, recomputation from saved statistics, and backward, so that
// a network saves only the convolutions' outputs. No autograd; tensors of any device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "ubique/kernels/conv/activation.h"

namespace ubique::kernels {

/// Norm, activation and dropout of one layer, with the norm's weights: f32 (f64 for f64 inputs),
/// required unless the norm is None.
struct NormAct {
  Norm norm = Norm::Batch;
  Activation activation = Activation::Relu;
  double epsilon = 1e-5;
  at::Tensor weight, bias;  ///< (C)
  at::Tensor scale;         ///< channel dropout: (B, C, 1, 1, 1) of 0 or 1/(1-p); undefined = none
};

/// Statistics of one batch: (C) for Batch, (B·C) for Instance, undefined for None.
struct NormStatistics {
  at::Tensor mean, inverse_deviation;
  at::Tensor variance(double epsilon) const;  ///< biased
};

/// act(norm(x)) · scale; sets `statistics` to those of the batch.
at::Tensor norm_act(const at::Tensor& x, const NormAct& how, NormStatistics& statistics);
/// The same from saved statistics.
at::Tensor norm_act_recompute(const at::Tensor& x, const NormAct& how,
                              const NormStatistics& statistics);

struct NormActGradients {
  at::Tensor input, weight, bias;  ///< weight and bias only for Batch
};

/// `gradient`, of norm_act's `result`, is overwritten; `result` is released as soon as possible.
NormActGradients norm_act_backward(at::Tensor gradient, at::Tensor result, const at::Tensor& x,
                                   const NormAct& how, const NormStatistics& statistics);

}  // namespace ubique::kernels
