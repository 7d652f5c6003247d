// SPDX-License-Identifier: Apache-2.0
// Networks to export, with non-trivial norm statistics.
#pragma once

#include <ATen/ATen.h>

#include "tests/models/meshnet/net/network_samples.h"
#include "ubique/models/meshnet/net/model.h"

namespace ubique::test {

inline meshnet::MeshNetConfig small_config(meshnet::Activation activation, meshnet::Norm norm,
                                           bool bias = true) {
  meshnet::MeshNetConfig config;
  config.channels = 5;
  config.classes = 3;
  config.dilations = {1, 2, 3};
  config.activation = activation;
  config.norm = norm;
  config.bias = bias;
  return config;
}

inline meshnet::MeshNetFile random_file(const meshnet::MeshNetConfig& config) {
  return {config, meshnet::state_of(*random_network(config)), "test"};
}

/// Are all tensors equal bit by bit? Batch counters are ignored: folded networks lack them.
inline bool same_weights(const meshnet::MeshNetFile& a, const meshnet::MeshNetFile& b) {
  std::size_t compared = 0;
  for (const auto& [name, tensor] : a.tensors) {
    if (name.ends_with("num_batches_tracked")) continue;
    for (const auto& [other_name, other] : b.tensors) {
      if (other_name != name) continue;
      if (!tensor.equal(other)) return false;
      ++compared;
    }
  }
  return compared > 0 &&
         compared +
                 static_cast<std::size_t>(std::count_if(
                     a.tensors.begin(), a.tensors.end(),
                     [](const auto& row) { return row.first.ends_with("num_batches_tracked"); })) ==
             a.tensors.size();
}

}  // namespace ubique::test
