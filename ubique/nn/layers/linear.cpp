// SPDX-License-Identifier: Apache-2.0
// The product with the weight and those with its adapters.
#include "ubique/nn/layers/linear.h"

#include <ATen/ATen.h>

#include "ubique/kernels/quant/quantized_linear.h"

namespace ubique::nn {

at::Tensor linear(const at::Tensor& input, const LinearWeights& weights, bool training) {
  // Of rows that do not lie together LibTorch makes a product for each item of the batch, with the
  // weight repeated, and adds the bias afterwards: five times as long on a card.
  const auto x = input.dim() > 2 ? input.contiguous() : input;
  at::Tensor y;
  if (weights.quantized) {
    y = kernels::quantized_linear(x, *weights.quantized, weights.bias);
  } else {
    const bool adapted = !weights.adapters.empty();
    const auto& weight = weights.weight;
    const auto matrix = weight.dim() == 2 ? weight : weight.flatten(1);
    y = at::linear(x, adapted ? matrix.detach() : matrix, weights.bias);
  }
  for (const auto& adapter : weights.adapters) y = y + lora_product(x, adapter, training);
  return y;
}

void quantize(LinearWeights& layer, kernels::QuantFormat format, bool double_quantized) {
  const auto weight = layer.weight.detach().flatten(1);
  layer.quantized = std::make_shared<const kernels::QuantizedWeight>(
      kernels::quantize(weight, format, double_quantized));
  layer.weight.set_data(at::empty({0}, layer.weight.options()));
}

void move_quantized(LinearWeights& layer, c10::Device device) {
  if (!layer.quantized) return;
  layer.quantized = std::make_shared<const kernels::QuantizedWeight>(layer.quantized->to(device));
}

}  // namespace ubique::nn
