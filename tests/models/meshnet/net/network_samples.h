// SPDX-License-Identifier: Apache-2.0
// A small network with non-trivial weights, for the tests of the network and its users.
#pragma once

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>

#include "tests/shared.h"
#include "tests/tensors.h"
#include "ubique/models/meshnet/net/init.h"
#include "ubique/models/meshnet/net/network.h"
#include "ubique/models/meshnet/net/weights.h"

namespace ubique::test {

/// A network whose tensors all have non-trivial values, biases and statistics included.
inline std::shared_ptr<meshnet::MeshNet> random_network(const meshnet::MeshNetConfig& config,
                                                        std::uint64_t seed = 3) {
  auto network = std::make_shared<meshnet::MeshNet>(config);
  meshnet::initialize(*network, Random(seed));
  const at::NoGradGuard no_gradients;
  std::uint64_t index = 100;
  for (auto& block : network->blocks) {
    if (block->conv->bias.defined()) {
      block->conv->bias.copy_(random_tensor({config.channels}, index++) * 0.1);
    }
    if (!block->bn) continue;
    block->bn->weight.copy_(1 + random_tensor({config.channels}, index++) * 0.2);
    block->bn->bias.copy_(random_tensor({config.channels}, index++) * 0.2);
    block->bn->running_mean.copy_(random_tensor({config.channels}, index++) * 0.1);
    block->bn->running_var.copy_(0.5 + random_tensor({config.channels}, index++).abs());
  }
  network->classifier->bias.copy_(random_tensor({config.classes}, index) * 0.1);
  return network;
}

}  // namespace ubique::test
