// SPDX-License-Identifier: Apache-2.0
// The product with the weight and those with its adapters.
#include "ubique/nn/layers/linear.h"

#include <ATen/ATen.h>

#include "ubique/kernels/decoder/wide_product.h"
#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/quant/quantized_linear.h"

namespace ubique::nn {

at::Tensor linear(const at::Tensor& input, const LinearWeights& weights, bool training) {
  // Of rows that do not lie together LibTorch makes a product for each item of the batch, with the
  // weight repeated, and adds the bias afterwards: five times as long on a card.
  const auto x = input.dim() > 2 ? input.contiguous() : input;
  if (weights.narrow.defined()) {
    return kernels::dense(cast_input(x, weights), cast_weight(weights), weights.bias);
  }
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

void narrow_weights(const std::vector<LinearWeights*>& layers, at::ScalarType dtype) {
  const kernels::PlainTensors plain;
  std::vector<at::Tensor> wide, narrow;
  for (auto* layer : layers) {
    const bool fits = layer->weight.defined() && layer->weight.dim() == 2 && !layer->quantized &&
                      layer->adapters.empty() && layer->weight.requires_grad();
    if (!fits) continue;
    layer->narrow = at::empty(layer->weight.sizes(), layer->weight.options().dtype(dtype));
    wide.push_back(layer->weight.detach());
    narrow.push_back(layer->narrow);
  }
  if (!wide.empty()) at::_foreach_copy_(narrow, wide);
}

at::Tensor cast_input(const at::Tensor& x, const LinearWeights& weights) {
  return x.contiguous().to(weights.narrow.scalar_type());
}

kernels::CastWeight cast_weight(const LinearWeights& weights) {
  kernels::CastWeight cast;
  cast.parameter = weights.weight;
  cast.value = weights.narrow;
  return cast;
}

kernels::Branch linear_branch(const at::Tensor& x, const LinearWeights& weights,
                              const BranchOptions& options) {
  if (!options.leaves_bias || !weights.narrow.defined()) {
    return {linear(x, weights, options.training)};
  }
  return {kernels::dense(cast_input(x, weights), cast_weight(weights)), weights.bias};
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
