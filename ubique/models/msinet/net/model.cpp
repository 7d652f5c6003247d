// SPDX-License-Identifier: Apache-2.0
// Weights in and out of the network, the training step, the plan's memory format.
#include "ubique/models/msinet/net/model.h"

#include <ATen/ATen.h>

#include "ubique/device/select.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/models/msinet/net/loss.h"

namespace ubique::msinet {

MsiNetModel::MsiNetModel(const MsiNetConfig& config) : network_(std::make_shared<MsiNet>(config)) {}

MsiNetModel::MsiNetModel(const MsiNetFile& file, const Random& random) : MsiNetModel(file.config) {
  auto tensors = file.tensors;
  if (file.encoder_only) {
    msinet::initialize(*network_, random);
    for (const auto& [name, value] : engine::state_dict(*network_)) {
      if (!engine::find_tensor(tensors, name).defined()) tensors.emplace_back(name, value);
    }
  }
  engine::load_state(*network_, tensors, file.form);
}

void check_weights(const MsiNetConfig& config, const engine::NamedTensors& tensors,
                   const std::string& where) {
  engine::NamedShapes expected;
  for (const auto& layer : layers_of(config)) {
    const auto name = layer.scope(".");
    expected.push_back({name + ".weight", {layer.out, layer.in, layer.kernel, layer.kernel}});
    expected.push_back({name + ".bias", {layer.out}});
  }
  engine::check_shapes(tensors, expected, where);
}

plan::Needs MsiNetModel::needs() const { return needs_of(settings(), settings().size); }

void MsiNetModel::apply_plan(const plan::Plan& plan) {
  backend_ = device::parse_request(plan.device.value).backend;
  network_->set_channels_last(plan.memory_format.value == probe::Layout::ChannelsLast);
}

engine::Step MsiNetModel::step(const engine::Batch& batch) {
  const auto map = network_->forward(batch.tensors.at("image"));  // (B, 1, H, W)
  return {kld_loss(map, batch.tensors.at("map")), {}};
}

MsiNetFile MsiNetModel::file() const {
  MsiNetFile file{settings(), {}, "checkpoint"};
  for (const auto& [name, tensor] : engine::state_dict(*network_)) {
    file.tensors.emplace_back(name, tensor.detach().cpu().contiguous().clone());
  }
  return file;
}

c10::Device MsiNetModel::device() const { return network_->parameters().front().device(); }

}  // namespace ubique::msinet
