// SPDX-License-Identifier: Apache-2.0
// Counts tensor by tensor what layer_chain.cpp, cross_entropy.cpp and segmenter.cpp allocate.
#include "ubique/models/meshnet/net/needs.h"

#include <algorithm>

#include "ubique/kernels/host/host_convolve.h"
#include "ubique/models/meshnet/net/layer_chain.h"
#include "ubique/models/meshnet/net/stream_buffers.h"

namespace ubique::meshnet {
namespace {

constexpr std::int64_t kLossChunk = 1 << 20;  // LossOptions' default

plan::ActivationNeed activations_of(const MeshNetConfig& config, std::int64_t voxels) {
  const auto layer = config.channels * voxels;
  const auto layers = static_cast<std::int64_t>(config.layers());
  const auto logits = config.classes * voxels;
  plan::ActivationNeed need;
  need.saved = layers * layer + config.in_channels * voxels;  // outputs and the cast image
  // Plus the last activation, its gradient, and the gradient of the logits.
  need.transient = (chain_peak(layers, 0) - layers) * layer + logits;
  // The loss comes before backward and uses the memory of these transients: only the excess counts.
  // One chunk holds logits, probabilities, targets and their weights, in f32 and i64.
  const auto chunk = std::min(voxels, kLossChunk) * (3 * config.classes + 5);
  need.loss = std::max<std::int64_t>(0, chunk + logits - need.transient);
  need.run = 2 * layer + config.in_channels * voxels;  // a layer's input and output, the image
  need.largest = std::max(layer, logits);
  return need;
}

plan::HostNeed host_of(const MeshNetConfig& config, const std::array<std::int64_t, 3>& shape,
                       std::int64_t whole) {
  plan::HostNeed need;
  need.own_kernels = kernels::PlaneConvolution::supports(config.kernel) &&
                     config.channels <= kernels::kMaxHostChannels;
  auto folded = config;
  if (folded.norm == Norm::Batch) folded.norm = Norm::None;
  need.run =
      can_stream_on_host(folded) ? stream_floats(config, shape[0], shape[1], shape[2]) : whole;
  const auto widest = *std::max_element(config.dilations.begin(), config.dilations.end());
  need.train = kernels::host_convolve_floats(config.channels, config.kernel, widest, shape[0],
                                             shape[1], shape[2]);
  return need;
}

std::vector<plan::CheckpointLevel> levels_of(std::int64_t layers) {
  std::vector<plan::CheckpointLevel> levels;
  const auto transient = chain_peak(layers, 0) - layers;
  std::int64_t least = chain_peak(layers, 0);
  for (auto segments = layers; segments >= 2; --segments) {  // fewer: less saved, more recomputed
    const auto peak = chain_peak(layers, segments);
    if (peak >= least) continue;
    least = peak;
    // Forward is a third of a step; the first layer is a small part of it.
    const auto recomputed =
        static_cast<double>(layers - segments) / static_cast<double>(3 * layers);
    levels.push_back({segments, static_cast<double>(peak - transient) / static_cast<double>(layers),
                      std::max(recomputed, 0.01)});
  }
  return levels;
}

std::vector<plan::ConvNeed> convs_of(const MeshNetConfig& config, std::int64_t length) {
  std::vector<plan::ConvNeed> convs;
  convs.push_back(
      {3, config.in_channels, config.channels, config.kernel, config.dilations.front(), length});
  auto inner = std::vector<std::int64_t>(config.dilations.begin() + 1, config.dilations.end());
  std::sort(inner.begin(), inner.end());
  inner.erase(std::unique(inner.begin(), inner.end()), inner.end());
  for (const auto dilation : inner) {
    convs.push_back({3, config.channels, config.channels, config.kernel, dilation, length});
  }
  convs.push_back({3, config.channels, config.classes, 1, 1, length});
  return convs;
}

}  // namespace

plan::Needs needs_of(const MeshNetConfig& config, const std::array<std::int64_t, 3>& shape,
                     std::int64_t mask_bytes) {
  const auto voxels = shape[0] * shape[1] * shape[2];
  const auto taps = config.kernel * config.kernel * config.kernel;
  const auto layers = static_cast<std::int64_t>(config.layers());
  const auto multiplications =
      taps * config.channels * (config.in_channels + (layers - 1) * config.channels) +
      config.channels * config.classes;

  plan::Needs needs;
  needs.name = config.name();
  needs.family = "meshnet";
  needs.parameters = {{"network", parameter_count(config), true, 0}};
  needs.activations = activations_of(config, voxels);
  needs.flops_run = 2.0 * static_cast<double>(multiplications) * static_cast<double>(voxels);
  needs.inputs = {
      {"image", {config.in_channels, shape[0], shape[1], shape[2]}, DType::F32},
      {"mask", {shape[0], shape[1], shape[2]}, mask_bytes == 1 ? DType::U8 : DType::I64}};
  needs.convs = convs_of(config, *std::max_element(shape.begin(), shape.end()));
  if (config.norm != Norm::None) needs.ops = {"batch_norm3d"};
  needs.tolerates_f16 = needs.tolerates_bf16 = true;
  needs.dropout = config.dropout > 0;
  needs.graph_capturable = true;
  needs.pad_width = config.channels;
  needs.host = host_of(config, shape, needs.activations.run);
  needs.checkpointing.levels = levels_of(layers);
  needs.checkpointing.supported = !needs.checkpointing.levels.empty();
  return needs;
}

}  // namespace ubique::meshnet
