// SPDX-License-Identifier: Apache-2.0
// Converts a folded network's tensors to the device, dtype, layout and padding of the options.
#include <ATen/ATen.h>

#include "ubique/base/error.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/models/meshnet/use/segmenter_parts.h"

namespace ubique::meshnet {
namespace {

std::int64_t rounded_channels(std::int64_t channels, std::int64_t multiple) {
  const auto step = std::max<std::int64_t>(1, multiple);
  return (channels + step - 1) / step * step;
}

at::Tensor given_tensor(const MeshNetFile& file, const std::string& name) {
  auto tensor = engine::find_tensor(file.tensors, name);
  check(tensor.defined(), ErrorKind::Input, "[meshnet.segment] the weights lack '{}'.", name);
  return tensor.detach();
}

/// Zero-pads to these channels.
at::Tensor zero_padded(const at::Tensor& tensor, std::int64_t out, std::int64_t in) {
  auto shape = tensor.sizes().vec();
  shape[0] = out;
  if (shape.size() > 1) shape[1] = in;
  auto larger = at::zeros(shape, tensor.options());
  auto part = larger.narrow(0, 0, tensor.size(0));
  if (shape.size() > 1) part = part.narrow(1, 0, tensor.size(1));
  part.copy_(tensor);
  return larger;
}

}  // namespace

ReadyNetwork make_ready(const MeshNetFile& folded, const SegmenterOptions& options) {
  const auto& config = folded.config;
  ReadyNetwork ready;
  ready.config = config;
  ready.channels = rounded_channels(config.channels, options.pad_channels_to);
  ready.dtype = options.dtype;
  ready.layout =
      options.channels_last ? at::MemoryFormat::ChannelsLast3d : at::MemoryFormat::Contiguous;
  const auto move = [&](const at::Tensor& tensor) {
    auto moved = tensor.to(options.device, options.dtype);
    return tensor.dim() == 5 ? moved.contiguous(ready.layout) : moved.contiguous();
  };
  for (std::size_t i = 0; i < config.layers(); ++i) {
    const auto prefix = fmt::format("network.{}.conv.", i);
    const auto in = i == 0 ? config.in_channels : ready.channels;
    ready.weights.push_back(
        move(zero_padded(given_tensor(folded, prefix + "weight"), ready.channels, in)));
    // An instance norm cancels the bias before it.
    const bool bias = config.bias && config.norm == Norm::None;
    ready.biases.push_back(
        bias ? move(zero_padded(given_tensor(folded, prefix + "bias"), ready.channels, 0))
             : at::Tensor());
  }
  const auto last = fmt::format("network.{}.", config.layers());
  ready.class_weight =
      move(zero_padded(given_tensor(folded, last + "weight"), config.classes, ready.channels));
  ready.class_bias = move(given_tensor(folded, last + "bias"));
  return ready;
}

}  // namespace ubique::meshnet
