// SPDX-License-Identifier: Apache-2.0
// The network, its weights at the start, and what it needs of a machine.
#include "tests/house/models/toy/net/model.h"

#include <ATen/ATen.h>

namespace ubique::toy {

constexpr std::int64_t kPixels = 16 * 16;

ToyNetwork::ToyNetwork(const ToyConfig& config) {
  first = register_parameter("first_weight", at::zeros({config.channels, 1, 3, 3}));
  first_bias = register_parameter("first_bias", at::zeros({config.channels}));
  last = register_parameter("last_weight", at::zeros({1, config.channels, 1, 1}));
  last_bias = register_parameter("last_bias", at::zeros({1}));
}

at::Tensor ToyNetwork::forward(const at::Tensor& x) const {
  const auto hidden = at::relu(at::conv2d(x, first, first_bias, 1, 1));  // (B, C, H, W)
  return at::conv2d(hidden, last, last_bias);
}

void ToyModel::initialize(const Random& random) {
  std::uint64_t layer = 0;
  for (auto* weight : {&network_.first, &network_.last}) {
    const auto count = static_cast<std::size_t>(weight->numel());
    random.fork(layer++).fill_normal({weight->mutable_data_ptr<float>(), count}, 0, 0.5F);
  }
}

plan::Needs ToyModel::needs() const {
  plan::Needs needs;
  needs.name = "toy";
  needs.family = "toy";
  needs.parameters = {{.name = "all", .count = 11 * config_.channels + 1}};
  needs.activations.saved = needs.activations.run = 2 * config_.channels * kPixels;
  needs.convs = {{.dims = 2, .in = 1, .out = config_.channels, .kernel = 3}};
  needs.effective_batch = 8;
  return needs;
}

engine::Step ToyModel::step(const engine::Batch& batch) {
  const auto error = network_.forward(batch.tensors.at("image")) - batch.tensors.at("filtered");
  return {error.square().mean()};
}

}  // namespace ubique::toy
