// SPDX-License-Identifier: Apache-2.0
// State dicts read from and copied into a network, and batch norms folded into convolutions.
#include "ubique/models/meshnet/net/weights.h"

#include <ATen/ATen.h>

#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/models/meshnet/net/network.h"

namespace ubique::meshnet {
namespace {

constexpr std::string_view kCounter = "num_batches_tracked";

void collect_state(const torch::nn::Module& module, const std::string& prefix,
                   engine::NamedTensors& state) {
  for (const auto& item : module.named_parameters(false)) {
    state.emplace_back(prefix + item.key(), item.value());
  }
  for (const auto& item : module.named_buffers(false)) {
    state.emplace_back(prefix + item.key(), item.value());
  }
  for (const auto& item : module.named_children()) {
    collect_state(*item.value(), prefix + item.key() + ".", state);
  }
}

}  // namespace

engine::NamedTensors state_of(const MeshNet& network) {
  engine::NamedTensors state;
  collect_state(network, "", state);
  return state;
}

void load_state(MeshNet& network, const engine::NamedTensors& state) {
  auto complete = state;
  for (const auto& [name, target] : state_of(network)) {
    if (!name.ends_with(kCounter) || engine::find_tensor(state, name).defined()) continue;
    complete.emplace_back(name, at::zeros({}, at::TensorOptions(at::kLong)));
  }
  engine::load_state(network, complete, "the given state");
}

void check_weights(const MeshNetConfig& config, const engine::NamedTensors& tensors,
                   const std::string& where) {
  const auto c = config.channels, k = config.kernel;
  engine::NamedShapes expected;
  for (std::size_t i = 0; i < config.layers(); ++i) {
    const auto conv = fmt::format("network.{}.conv.", i), bn = fmt::format("network.{}.bn.", i);
    const auto in = i == 0 ? config.in_channels : c;
    expected.push_back({conv + "weight", {c, in, k, k, k}});
    if (config.bias) expected.push_back({conv + "bias", {c}});
    if (config.norm != Norm::Batch) continue;
    for (const auto* field : {"weight", "bias", "running_mean", "running_var"}) {
      expected.push_back({bn + field, {c}});
    }
  }
  const auto classifier = fmt::format("network.{}.", config.layers());
  expected.push_back({classifier + "weight", {config.classes, c, 1, 1, 1}});
  expected.push_back({classifier + "bias", {config.classes}});
  engine::NamedTensors counted;
  for (const auto& [name, tensor] : tensors) {
    if (!name.ends_with(kCounter)) counted.emplace_back(name, tensor);
  }
  engine::check_shapes(counted, expected, where);
}

MeshNetFile fold_batch_norm(const MeshNetFile& file) {
  if (file.config.norm != Norm::Batch) return file;
  MeshNetFile folded{file.config, {}, file.form};
  folded.config.norm = Norm::None;
  folded.config.bias = true;
  const auto find = [&](const std::string& name) {
    const auto tensor = engine::find_tensor(file.tensors, name);
    check(tensor.defined(), ErrorKind::Input, "[meshnet.fold] the weights lack '{}'.", name);
    return tensor.detach().cpu().to(at::kDouble);
  };
  for (std::size_t i = 0; i < file.config.layers(); ++i) {
    const auto conv = fmt::format("network.{}.conv.", i), bn = fmt::format("network.{}.bn.", i);
    const auto scale =
        find(bn + "weight") / (find(bn + "running_var") + kNormEpsilon).sqrt();  // (C)
    auto shift = -find(bn + "running_mean");
    if (file.config.bias) shift = shift + find(conv + "bias");
    const auto weight = find(conv + "weight") * scale.view({-1, 1, 1, 1, 1});
    folded.tensors.emplace_back(conv + "weight", weight.to(at::kFloat));
    folded.tensors.emplace_back(conv + "bias", (find(bn + "bias") + shift * scale).to(at::kFloat));
  }
  for (const auto* field : {"weight", "bias"}) {
    const auto name = fmt::format("network.{}.{}", file.config.layers(), field);
    folded.tensors.emplace_back(name, find(name).to(at::kFloat));
  }
  return folded;
}

}  // namespace ubique::meshnet
