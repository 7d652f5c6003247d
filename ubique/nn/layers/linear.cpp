// SPDX-License-Identifier: Apache-2.0
// The product with the weight and those with its adapters.
#include "ubique/nn/layers/linear.h"

#include <ATen/ATen.h>

#include "ubique/kernels/quant/quantized_linear.h"

namespace ubique::nn {

at::Tensor linear(const at::Tensor& x, const LinearWeights& weights, bool training) {
  at::Tensor y;
  if (weights.quantized) {
    y = kernels::quantized_linear(x, *weights.quantized, weights.bias);
  } else {
    const bool adapted = !weights.adapters.empty();
    y = at::linear(x, adapted ? weights.weight.detach() : weights.weight, weights.bias);
  }
  for (const auto& adapter : weights.adapters) y = y + lora_product(x, adapter, training);
  return y;
}

}  // namespace ubique::nn
