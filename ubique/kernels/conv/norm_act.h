// SPDX-License-Identifier: Apache-2.0
// What happens to a convolution's output on its way into the next convolution: normalisation over
// the batch's (or sample's) own statistics, activation, channel dropout. Forward, the same again
// from kept statistics, and backward, so that a network can keep the convolutions' outputs alone
// and work out the rest twice. Plain functions without autograd, on tensors of any device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "ubique/kernels/conv/activation.h"

namespace ubique::kernels {

/// One layer's way, with the weights of its norm: f32 (f64 for f64 inputs), always given unless
/// the norm is None.
struct NormAct {
  Norm norm = Norm::Batch;
  Activation activation = Activation::Relu;
  double epsilon = 1e-5;
  at::Tensor weight, bias;  ///< (C)
  at::Tensor scale;         ///< channel dropout: (B, C, 1, 1, 1) of 0 or 1/(1-p); undefined = none
};

/// Of one batch; (C) for Batch, (B·C) for Instance, undefined for None.
struct NormStatistics {
  at::Tensor mean, inverse_deviation;
  at::Tensor variance(double epsilon) const;  ///< biased
};

/// act(norm(x)) · scale with the batch's own statistics, which it gives back.
at::Tensor norm_act(const at::Tensor& x, const NormAct& how, NormStatistics& statistics);
/// The same from statistics known already.
at::Tensor norm_act_again(const at::Tensor& x, const NormAct& how,
                          const NormStatistics& statistics);

struct NormActGradients {
  at::Tensor input, weight, bias;  ///< weight and bias for Batch alone
};

/// `gradient` is of norm_act's result and is overwritten; `result` is that result, given up here
/// as soon as it has served.
NormActGradients norm_act_backward(at::Tensor gradient, at::Tensor result, const at::Tensor& x,
                                   const NormAct& how, const NormStatistics& statistics);

}  // namespace ubique::kernels
