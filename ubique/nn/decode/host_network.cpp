// SPDX-License-Identifier: Apache-2.0
// Which linear layers decoding steps of our own can read.
#include "ubique/nn/decode/host_network.h"

#include <ATen/ATen.h>

namespace ubique::nn {

std::optional<HostLinear> host_linear(const LinearWeights& weights) {
  if (!weights.adapters.empty()) return std::nullopt;
  HostLinear layer;
  if (weights.bias.defined()) layer.bias = weights.bias.detach().to(at::kFloat).contiguous();
  if (const auto& quantized = weights.quantized) {
    if (quantized->format == kernels::QuantFormat::Nf4) return std::nullopt;
    layer.quantized = quantized;
    layer.out = quantized->rows;
    layer.in = quantized->columns;
    return layer;
  }
  const auto weight = weights.weight.detach();
  const auto dtype = weight.scalar_type();
  const bool known = dtype == at::kFloat || dtype == at::kBFloat16 || dtype == at::kHalf;
  if (!known || !weight.is_contiguous()) return std::nullopt;
  layer.weight = weight;
  layer.out = weight.size(0);
  layer.in = weight.size(1);
  return layer;
}

}  // namespace ubique::nn
