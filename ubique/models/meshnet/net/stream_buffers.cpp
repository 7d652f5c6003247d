// SPDX-License-Identifier: Apache-2.0
// How many planes each layer's ring buffer holds, and how many floats that is.
#include "ubique/models/meshnet/net/stream_buffers.h"

#include <algorithm>

namespace ubique::meshnet {
namespace {

// Threads synchronise after every group of planes of every layer, and each layer's ring buffer
// holds one group more: as many planes as take this much memory, within limits.
constexpr std::int64_t kGroupBytes = 96 << 20;
constexpr std::int64_t kLeastRows = 256, kMostPlanes = 8;

}  // namespace

bool can_stream_on_host(const MeshNetConfig& folded) {
  return folded.norm == Norm::None && kernels::PlaneConvolution::supports(folded.kernel);
}

kernels::PlaneForm input_plane(const MeshNetConfig& config, std::size_t layer, std::int64_t height,
                               std::int64_t width) {
  return {layer == 0 ? config.in_channels : config.channels, height, width,
          config.dilations[layer] * (config.kernel / 2)};
}

kernels::PlaneForm output_plane(const MeshNetConfig& config, std::int64_t height,
                                std::int64_t width) {
  return {config.channels, height, width, 0};
}

std::int64_t planes_per_group(const MeshNetConfig& config, std::int64_t depth, std::int64_t height,
                              std::int64_t width) {
  auto floats = output_plane(config, height, width).floats();
  for (std::size_t i = 0; i < config.layers(); ++i) {
    floats += input_plane(config, i, height, width).floats();
  }
  const auto most = std::min<std::int64_t>(
      kMostPlanes, kGroupBytes / (floats * static_cast<std::int64_t>(sizeof(float))));
  const auto least = (kLeastRows + height - 1) / height;
  return std::min(depth, std::max(most, least));
}

std::int64_t stream_floats(const MeshNetConfig& config, std::int64_t depth, std::int64_t height,
                           std::int64_t width) {
  const auto group = planes_per_group(config, depth, height, width);
  auto sum = group * output_plane(config, height, width).floats();
  for (std::size_t i = 0; i < config.layers(); ++i) {
    const auto plane = input_plane(config, i, height, width);
    sum += std::min(depth, 2 * plane.margin + group) * plane.floats();
  }
  return sum;
}

}  // namespace ubique::meshnet
