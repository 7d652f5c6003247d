// SPDX-License-Identifier: Apache-2.0
// Layer by layer, so that there is never a second copy of the network.
#include "ubique/nn/layers/quantize_layers.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

namespace ubique::nn {

std::int64_t quantize_layers(Network& network, kernels::QuantFormat format) {
  const at::NoGradGuard no_gradients;
  std::int64_t numbers = 0;
  for (const auto& [name, layer] : network.linear_layers()) {
    const auto rows = layer->outputs(), columns = layer->inputs();
    if (layer->quantized || !kernels::is_quantizable(format, rows, columns)) continue;
    numbers += rows * columns;
    quantize(*layer, format, /*double_quantized=*/format == kernels::QuantFormat::Nf4);
  }
  return numbers;
}

void move_quantized_layers(Network& network, c10::Device device) {
  for (const auto& [name, layer] : network.linear_layers()) {
    move_quantized(*layer, device);
  }
}

std::int64_t quantized_bytes(const Network& network) {
  std::int64_t bytes = 0;
  for (const auto& [name, layer] : network.linear_layers()) {
    if (layer->quantized) bytes += layer->quantized->bytes();
  }
  return bytes;
}

}  // namespace ubique::nn
