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
  at::Tensor weight;                ///< (out, in), or (out, in, 1) as a convolution stores it
  at::Tensor bias = {};             ///< (out); undefined = none
  std::vector<Lora> adapters = {};  ///< summed; the weight is then frozen
  std::shared_ptr<const kernels::QuantizedWeight> quantized = {};  ///< used instead of `weight`

  std::int64_t outputs() const { return quantized ? quantized->rows : weight.size(0); }
  std::int64_t inputs() const { return quantized ? quantized->columns : weight.size(1); }
};

/// x (..., in) to (..., out). `training` switches the adapters' dropout on.
at::Tensor linear(const at::Tensor& x, const LinearWeights& weights, bool training = false);

/// Keeps the weight in fewer bits from now on; its parameter becomes empty. Adapters stay. Input
/// error for sizes that the format cannot have.
void quantize(LinearWeights& layer, kernels::QuantFormat format, bool double_quantized = false);
/// Moves the quantised weight, which no module knows; nothing if there is none.
void move_quantized(LinearWeights& layer, c10::Device device);

}  // namespace ubique::nn
