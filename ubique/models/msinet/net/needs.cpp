// SPDX-License-Identifier: Apache-2.0
// Memory and arithmetic of the network for the plan, counted tensor by tensor as network.cpp
// allocates them.
#include <algorithm>

#include "ubique/models/msinet/net/network.h"

namespace ubique::msinet {
namespace {

/// Elements of a layer's input and output for a picture of `pixels` pixels.
struct LayerElements {
  std::int64_t in, out;
};

LayerElements elements_of(const LayerSpec& layer, std::int64_t pixels) {
  const auto area = layer.divisor == 0 ? 1 : pixels / (layer.divisor * layer.divisor);
  return {layer.in * area, layer.out * area};
}

/// Saved for backward: every convolution's input (shared with the ReLU before it), input and
/// indices of max pooling (an index has twice the bytes of an f32), the map.
plan::ActivationNeed activations_of(const MsiNetConfig& config, std::int64_t pixels) {
  plan::ActivationNeed need;
  std::int64_t divisor = 1;
  for (const auto& stage : config.encoder) {
    const auto area = pixels / (divisor * divisor);
    need.saved += stage.widths.back() * area;  // input of max pooling
    divisor *= stage.stride;
    const auto pooled = stage.widths.back() * pixels / (divisor * divisor);
    need.saved_f32 += 2 * pooled;
    if (stage.stride == 1) need.saved += pooled;  // its padded copy
  }
  bool joined = false;
  for (const auto& layer : layers_of(config)) {
    const auto elements = elements_of(layer, pixels);
    const bool branch = layer.group == "aspp" && layer.name != "conv2";
    if (!branch || !joined) need.saved += elements.in;  // branches share one input
    joined = joined || branch;
    if (branch) need.saved += elements.out;  // besides their concatenation
    need.run = std::max(need.run, elements.in + elements.out);
    need.transient = std::max(need.transient, elements.in + 2 * elements.out);
    need.largest = std::max({need.largest, elements.in, elements.out});
  }
  need.loss = 8 * pixels;  // the map, its range, both distributions and their ratio
  // The peak of inference is in the ASPP module or the first stage, with the picture still there.
  need.run += 3 * pixels + need.largest;
  return need;
}

double multiplications_of(const MsiNetConfig& config, std::int64_t pixels) {
  double count = 0;
  for (const auto& layer : layers_of(config)) {
    const auto out = elements_of(layer, pixels).out;
    count += static_cast<double>(out) * static_cast<double>(layer.kernel * layer.kernel * layer.in);
  }
  return count;
}

std::vector<plan::ConvNeed> convs_of(const MsiNetConfig& config, std::int64_t length) {
  std::vector<plan::ConvNeed> convs;
  for (const auto& layer : layers_of(config)) {
    const plan::ConvNeed conv{2,
                              layer.in,
                              layer.out,
                              layer.kernel,
                              layer.dilation,
                              layer.divisor == 0 ? 1 : length / layer.divisor};
    const bool known = std::any_of(convs.begin(), convs.end(), [&](const plan::ConvNeed& other) {
      return other.in == conv.in && other.out == conv.out && other.kernel == conv.kernel &&
             other.dilation == conv.dilation;
    });
    if (!known) convs.push_back(conv);
  }
  return convs;
}

}  // namespace

plan::Needs needs_of(const MsiNetConfig& config, const std::array<std::int64_t, 2>& size) {
  const auto pixels = size[0] * size[1];
  plan::Needs needs;
  needs.name = config.name();
  needs.family = "msinet";
  needs.parameters = {{"network", parameter_count(config), true, 0}};
  needs.activations = activations_of(config, pixels);
  needs.flops_run = 2 * multiplications_of(config, pixels);
  needs.inputs = {{"image", {3, size[0], size[1]}, DType::U8},
                  {"map", {size[0], size[1]}, DType::U8}};
  needs.convs = convs_of(config, std::max(size[0], size[1]));
  needs.tolerates_f16 = needs.tolerates_bf16 = true;
  needs.graph_capturable = true;
  return needs;
}

}  // namespace ubique::msinet
