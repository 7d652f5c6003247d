// SPDX-License-Identifier: Apache-2.0
// Streaming with torch's convolutions, on any device: every layer keeps the last planes of its
// input that later outputs need. Each layer's input is zero-padded before the first and after the
// last plane, so the results equal those of the whole volume.
#include <ATen/ATen.h>

#include <algorithm>

#include "ubique/kernels/conv/convolve.h"
#include "ubique/models/meshnet/use/segmenter_parts.h"

namespace ubique::meshnet {
namespace {

class SlabStream {
 public:
  SlabStream(const ReadyNetwork& network, const at::Tensor& image, FeatureSink& sink)
      : network_(network), sink_(sink) {
    for (std::size_t i = 0; i < network.config.layers(); ++i) {
      tails_.push_back(zero_planes(i, image));
    }
  }

  void push(std::size_t layer, const at::Tensor& planes) {
    if (layer == tails_.size()) {
      sink_.take_slab(planes, done_);
      done_ += planes.size(2);
      return;
    }
    const auto reach = reach_of(layer);
    const auto joined = at::cat({tails_[layer], planes}, 2).contiguous(network_.layout);
    const auto kept = std::min(2 * reach, joined.size(2));
    tails_[layer] = joined.narrow(2, joined.size(2) - kept, kept).clone();
    if (joined.size(2) <= 2 * reach) return;
    push(layer + 1,
         kernels::convolve_activate(joined, network_.weights[layer], network_.biases[layer],
                                    network_.config.dilations[layer], network_.config.activation,
                                    kernels::DepthEdges::Cut));
  }

  /// Pushes the zero padding after the last plane through, layer by layer.
  void finish(const at::Tensor& image) {
    for (std::size_t i = 0; i < tails_.size(); ++i) push(i, zero_planes(i, image));
  }

 private:
  std::int64_t reach_of(std::size_t layer) const {
    return network_.config.dilations[layer] * (network_.config.kernel / 2);
  }

  at::Tensor zero_planes(std::size_t layer, const at::Tensor& image) const {
    const auto channels = layer == 0 ? network_.config.in_channels : network_.channels;
    return at::zeros({1, channels, reach_of(layer), image.size(3), image.size(4)},
                     image.options().dtype(network_.dtype));
  }

  const ReadyNetwork& network_;
  FeatureSink& sink_;
  std::vector<at::Tensor> tails_;  // last input planes of each layer, (1, C, up to 2 reach, H, W)
  std::int64_t done_ = 0;
};

}  // namespace

void run_slabs(const ReadyNetwork& network, const at::Tensor& image, std::int64_t planes_at_once,
               FeatureSink& sink) {
  SlabStream stream(network, image, sink);
  const auto depth = image.size(2);
  for (std::int64_t first = 0; first < depth; first += planes_at_once) {
    const auto count = std::min(planes_at_once, depth - first);
    stream.push(0, image.narrow(2, first, count).to(network.dtype));
  }
  stream.finish(image);
}

std::int64_t slab_bytes(const ReadyNetwork& network, std::int64_t plane_voxels,
                        std::int64_t planes_at_once) {
  std::int64_t planes = 0, most = 0;
  for (const auto dilation : network.config.dilations) {
    const auto behind = 2 * dilation * (network.config.kernel / 2);
    planes += behind;
    most =
        std::max(most, behind + 3 * planes_at_once);  // joined with the new ones, plus the result
  }
  return (planes + most) * network.channels * plane_voxels *
         static_cast<std::int64_t>(c10::elementSize(network.dtype));
}

}  // namespace ubique::meshnet
