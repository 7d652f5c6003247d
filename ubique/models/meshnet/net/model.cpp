// SPDX-License-Identifier: Apache-2.0
// The engine's model interface: initialisation, plan, training step, weights.
#include "ubique/models/meshnet/net/model.h"

#include "ubique/models/meshnet/net/init.h"
#include "ubique/models/meshnet/net/needs.h"

namespace ubique::meshnet {

MeshNetModel::MeshNetModel(const MeshNetConfig& config)
    : network_(std::make_shared<MeshNet>(config)) {
  // Two classes are background and lesion, weighted as in the paper; tissues have equal weights.
  if (config.classes != 2) loss_.class_weights.clear();
}

MeshNetModel::MeshNetModel(const MeshNetFile& file) : MeshNetModel(file.config) {
  load_state(*network_, file.tensors);
}

void MeshNetModel::initialize(const Random& random) { meshnet::initialize(*network_, random); }

plan::Needs MeshNetModel::needs() const {
  return needs_of(network_->config(), network_->config().preprocessing.shape);
}

void MeshNetModel::apply_plan(const plan::Plan& plan) {
  network_->set_training_options(
      {.pad_channels_to = plan.pad_channels.value,
       .segments = plan.segments,
       .channels_last = plan.memory_format.value == probe::Layout::ChannelsLast});
}

void MeshNetModel::set_pass_sums(engine::PassSums* sums) {
  auto options = network_->training_options();
  options.sums = sums;
  network_->set_training_options(options);
}

engine::Step MeshNetModel::step(const engine::Batch& batch) {
  const auto logits = network_->forward(batch.tensors.at("image"));  // (B, K, D, H, W)
  return {segmentation_loss(logits, batch.tensors.at("mask"), loss_), {}};
}

MeshNetFile MeshNetModel::file() const {
  MeshNetFile file{network_->config(), {}, "checkpoint"};
  for (const auto& [name, tensor] : state_of(*network_)) {
    file.tensors.emplace_back(name, tensor.detach().cpu().contiguous().clone());
  }
  return file;
}

c10::Device MeshNetModel::device() const { return network_->classifier->weight.device(); }

}  // namespace ubique::meshnet
