// SPDX-License-Identifier: Apache-2.0
// A linear layer with whatever adapters are attached to it, its weight in 16, 32, 8 or 4 bits.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "ubique/kernels/decoder/add_norm.h"
#include "ubique/kernels/dispatch/cast_weight.h"
#include "ubique/kernels/quant/quantized_weight.h"
#include "ubique/nn/layers/lora.h"

namespace ubique::nn {

/// y = x·weightᵀ + bias, plus the low-rank product of each adapter.
struct LinearWeights {
  at::Tensor weight;                ///< (out, in), or (out, in, 1) as a convolution stores it
  at::Tensor bias = {};             ///< (out); undefined = none
  std::vector<Lora> adapters = {};  ///< summed; the weight is then frozen
  std::shared_ptr<const kernels::QuantizedWeight> quantized = {};  ///< used instead of `weight`
  at::Tensor narrow = {};  ///< the weight in the dtype of one pass's products: narrow_weights()

  std::int64_t outputs() const { return quantized ? quantized->rows : weight.size(0); }
  std::int64_t inputs() const { return quantized ? quantized->columns : weight.size(1); }
};

/// x (..., in) to (..., out). `training` switches the adapters' dropout on.
at::Tensor linear(const at::Tensor& x, const LinearWeights& weights, bool training = false);

/// Casts the weights that are trained themselves to `dtype`, all at once instead of one by one when
/// they are used, for the products and gradients of one pass.
void narrow_weights(const std::vector<LinearWeights*>& layers, at::ScalarType dtype);
/// The weight with what narrow_weights() made of it, and the input in the same dtype.
kernels::CastWeight cast_weight(const LinearWeights& weights);
at::Tensor cast_input(const at::Tensor& x, const LinearWeights& weights);

/// How a sub-layer ends: its last bias may be left to whoever adds the branch to the residual
/// stream, where it and its gradient cost no pass over memory of their own.
struct BranchOptions {
  bool training = false;     ///< dropout of adapters
  bool leaves_bias = false;  ///< of layers with LinearWeights::narrow
  bool keeps_hidden = true;  ///< an MLP's hidden values, where they could be computed again
};

/// linear(x, weights).
kernels::Branch linear_branch(const at::Tensor& x, const LinearWeights& weights,
                              const BranchOptions& options);

/// Keeps the weight in fewer bits from now on; its parameter becomes empty. Adapters stay. Input
/// error for sizes that the format cannot have.
void quantize(LinearWeights& layer, kernels::QuantFormat format, bool double_quantized = false);
/// Moves the quantised weight, which no module knows; nothing if there is none.
void move_quantized(LinearWeights& layer, c10::Device device);

}  // namespace ubique::nn
