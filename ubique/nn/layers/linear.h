// SPDX-License-Identifier: Apache-2.0
// A linear layer with whatever adapters are attached to it.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "ubique/nn/layers/lora.h"

namespace ubique::nn {

/// y = x·weightᵀ + bias, plus the low-rank product of each adapter.
struct LinearWeights {
  at::Tensor weight;                ///< (out, in)
  at::Tensor bias = {};             ///< (out); undefined = none
  std::vector<Lora> adapters = {};  ///< summed; the weight is then frozen
};

/// x (..., in) to (..., out). `training` switches the adapters' dropout on.
at::Tensor linear(const at::Tensor& x, const LinearWeights& weights, bool training = false);

}  // namespace ubique::nn
