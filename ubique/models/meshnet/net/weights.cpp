// SPDX-License-Identifier: Apache-2.0
// A network's state dict, in upstream's order, out and in.
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

}  // namespace ubique::meshnet
