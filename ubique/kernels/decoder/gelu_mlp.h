// SPDX-License-Identifier: Apache-2.0
// A feed-forward layer with GELU (the approximation by tanh) whose backward pass makes the gradient
// of what enters GELU in place and adds up its columns in the same pass over memory.
#pragma once

#include <ATen/core/Tensor.h>

#include "ubique/kernels/dispatch/cast_weight.h"

namespace ubique::kernels {

/// True if the device has the kernels for values of this kind, (..., I) contiguous.
bool does_biased_gelu(const at::Tensor& x);

struct GeluMlp {
  CastWeight up, down;  ///< (I, H), (H, I)
  at::Tensor up_bias;   ///< (I) or undefined
  bool keep = true;     ///< GELU's values for the backward pass; else they are computed again there
};

/// gelu(x·upᵀ + up_bias)·downᵀ, x (..., H). Only after does_biased_gelu().
at::Tensor gelu_mlp(const at::Tensor& x, const GeluMlp& layer);

}  // namespace ubique::kernels
