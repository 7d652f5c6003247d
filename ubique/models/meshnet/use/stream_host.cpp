// SPDX-License-Identifier: Apache-2.0
// Streaming on the host: a plane is computed when the next layer needs it, into a ring buffer that
// holds the planes that this layer's taps span.
#include <ATen/ATen.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/kernels/conv/convolve.h"
#include "ubique/models/meshnet/net/stream_buffers.h"
#include "ubique/models/meshnet/use/segmenter_parts.h"

namespace ubique::meshnet {
namespace {

kernels::PlaneConvolution layer_convolution(const MeshNetFile& folded, std::size_t layer) {
  const auto prefix = fmt::format("network.{}.conv.", layer);
  return {engine::find_tensor(folded.tensors, prefix + "weight"),
          engine::find_tensor(folded.tensors, prefix + "bias"), folded.config.dilations[layer]};
}

}  // namespace

HostStream::HostStream(const MeshNetFile& folded) : config_(folded.config) {
  for (std::size_t i = 0; i < folded.config.layers(); ++i) {
    layers_.push_back({layer_convolution(folded, i), std::nullopt, 0});
  }
}

void HostStream::prepare(at::IntArrayRef volume) {
  const auto depth = volume[0], height = volume[1], width = volume[2];
  for (auto& layer : layers_) layer.filled = 0;
  if (last_ && last_->depth() == depth && last_->form().height == height &&
      last_->form().width == width) {
    return;
  }
  group_ = planes_per_group(config_, depth, height, width);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    auto& [conv, ring, filled] = layers_[i];
    ring.emplace(input_plane(config_, i, height, width), conv.kernel(), conv.dilation(), group_,
                 depth);
  }
  last_.emplace(output_plane(config_, height, width), 1, 1, group_, depth);
}

void HostStream::fill(std::size_t layer, std::int64_t depth) {
  auto& own = layers_[layer];
  while (own.filled <= depth) {
    const auto count = std::min(group_, depth + 1 - own.filled);
    if (layer > 0) {
      compute(layer - 1, own.filled, count, *own.ring);
    } else {
      own.ring->copy(image_, own.filled, own.filled + count - 1);
    }
    own.filled += count;
  }
}

void HostStream::compute(std::size_t layer, std::int64_t first, std::int64_t count,
                         kernels::PlaneRing& out) {
  auto& [conv, ring, filled] = layers_[layer];
  fill(layer, std::min(first + count - 1 + conv.reach(), ring->depth() - 1));
  const auto& form = out.form();
  std::vector<kernels::PlaneJob> jobs;
  for (auto z = first; z < first + count; ++z) {
    jobs.push_back(
        {ring->inputs_of(z), out.at(z).row(0), form.channels * form.stride(), form.stride()});
  }
  conv.run(jobs, form.height, config_.activation == Activation::Relu);
  if (config_.activation == Activation::Relu) return;
  for (auto z = first; z < first + count; ++z)
    kernels::activate(out.at(z).flat(), config_.activation);
}

void HostStream::run(const at::Tensor& image, FeatureSink& sink) {
  image_ = image;  // (I, D, H, W)
  const auto depth = image.size(1);
  prepare(image.sizes().slice(1));
  for (std::int64_t first = 0; first < depth; first += group_) {
    const auto count = std::min(group_, depth - first);
    compute(layers_.size() - 1, first, count, *last_);
    for (auto z = first; z < first + count; ++z) sink.take_plane(last_->at(z), z);
  }
  image_.reset();
}

}  // namespace ubique::meshnet
