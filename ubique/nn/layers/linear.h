// SPDX-License-Identifier: Apache-2.0
// A linear layer with whatever adapters are attached to it, its weight in 16, 32, 8 or 4 bits.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "ubique/kernels/quant/quantized_weight.h"
#include "ubique/nn/layers/lora.h"

namespace ubique::nn {

/// y = x·weightᵀ + bias, plus the low-rank product of each adapter.
struct LinearWeights {
  at::Tensor weight;                ///< (out, in)
  at::Tensor bias = {};             ///< (out); undefined = none
  std::vector<Lora> adapters = {};  ///< summed; the weight is then frozen
  std::shared_ptr<const kernels::QuantizedWeight> quantized = {};  ///< used instead of `weight`
};

/// x (..., in) to (..., out). `training` switches the adapters' dropout on.
at::Tensor linear(const at::Tensor& x, const LinearWeights& weights, bool training = false);

}  // namespace ubique::nn
