// SPDX-License-Identifier: Apache-2.0
// Layer by layer over the whole volume: a layer's input and its output are in memory at a time.
#include <ATen/ATen.h>

#include "ubique/kernels/conv/convolve.h"
#include "ubique/kernels/conv/norm_act.h"
#include "ubique/models/meshnet/use/segmenter_parts.h"

namespace ubique::meshnet {
namespace {

constexpr std::int64_t kLogitsAtOnce = 1 << 24;  // small next to an activation

at::Tensor instance_norm_activate(const at::Tensor& x, const ReadyNetwork& network) {
  const auto options = x.options().dtype(at::kFloat);
  const kernels::NormAct how{Norm::Instance,
                             network.config.activation,
                             kNormEpsilon,
                             at::ones({x.size(1)}, options),
                             at::zeros({x.size(1)}, options),
                             {}};
  kernels::NormStatistics statistics;
  return kernels::norm_act(x, how, statistics);
}

}  // namespace

void run_whole(const ReadyNetwork& network, const at::Tensor& image, FeatureSink& sink) {
  const auto& config = network.config;
  auto x = kernels::in_layout(image.to(network.dtype), network.layout);  // (1, I, D, H, W)
  for (std::size_t i = 0; i < config.layers(); ++i) {
    const bool normed = config.norm == Norm::Instance;
    x = kernels::convolve_activate(x, network.weights[i], network.biases[i], config.dilations[i],
                                   normed ? Activation::None : config.activation);
    if (normed) x = instance_norm_activate(x, network);
  }
  const auto depth = x.size(2);
  const auto per_plane = config.classes * x.size(3) * x.size(4);
  const auto step = std::max<std::int64_t>(1, kLogitsAtOnce / per_plane);
  for (std::int64_t first = 0; first < depth; first += step) {
    sink.take_slab(x.narrow(2, first, std::min(step, depth - first)), first);
  }
}

std::int64_t whole_bytes(const ReadyNetwork& network, std::int64_t voxels) {
  const auto size = static_cast<std::int64_t>(c10::elementSize(network.dtype));
  const auto logits = std::min(network.config.classes * voxels, kLogitsAtOnce);
  return ((2 * network.channels + network.config.in_channels) * voxels + logits) * size;
}

}  // namespace ubique::meshnet
