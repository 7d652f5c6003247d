// SPDX-License-Identifier: Apache-2.0
// Shared by the network's tests: weights by the golden data's rule, small networks, pictures.
#pragma once

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <cmath>
#include <memory>

#include "tests/shared.h"
#include "tests/tensors.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/models/msinet/net/network.h"
#include "ubique/models/msinet/net/weights.h"

namespace ubique::test {

/// Tensor k of the golden data, kernels as (H, W, I, O): a hash of index, tensor and seed.
inline at::Tensor golden_tensor(at::IntArrayRef shape, std::uint32_t k, std::uint32_t seed) {
  double scale = 0.5;
  if (shape.size() == 4) {
    scale = std::sqrt(6.0 / static_cast<double>(shape[0] * shape[1] * shape[2]));
  }
  auto tensor = at::empty(shape, at::TensorOptions(at::kFloat));
  auto* values = tensor.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    auto x = static_cast<std::uint32_t>(i) + 0x9E3779B9U * (k + 1) + 0x85EBCA6BU * seed;
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    x ^= x >> 16;
    values[i] = static_cast<float>(scale * (static_cast<double>(x >> 8) / 8388608.0 - 1));
  }
  return tensor;
}

/// The state dict of a configuration by that rule.
inline engine::NamedTensors golden_state(const msinet::MsiNetConfig& config, std::uint32_t seed) {
  engine::NamedTensors state;
  std::uint32_t k = 0;
  for (const auto& layer : msinet::layers_of(config)) {
    const auto kernel = golden_tensor({layer.kernel, layer.kernel, layer.in, layer.out}, k, seed);
    state.emplace_back(layer.scope(".") + ".weight", kernel.permute({3, 2, 0, 1}).contiguous());
    state.emplace_back(layer.scope(".") + ".bias", golden_tensor({layer.out}, k + 1, seed));
    k += 2;
  }
  return state;
}

inline msinet::MsiNetFile golden_file(const msinet::MsiNetConfig& config, std::uint32_t seed = 5) {
  return {config, golden_state(config, seed), "test"};
}

inline std::shared_ptr<msinet::MsiNet> golden_network(const msinet::MsiNetConfig& config,
                                                      std::uint32_t seed = 5) {
  auto network = std::make_shared<msinet::MsiNet>(config);
  engine::load_state(*network, golden_state(config, seed), "the rule");
  return network;
}

/// The small network at half its widths, for tests that only need its shape.
inline msinet::MsiNetConfig tiny_config() {
  return msinet::widened(msinet::preset("msinet-small"), 0.5);
}

inline at::Tensor random_picture(at::IntArrayRef shape, std::uint64_t seed) {  // (B, 3, H, W), u8
  return (random_tensor(shape, seed) * 50 + 120).clamp(0, 255).to(at::kByte);
}

inline bool same_bits(const engine::NamedTensors& a, const engine::NamedTensors& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].first != b[i].first || !a[i].second.equal(b[i].second)) return false;
  }
  return true;
}

}  // namespace ubique::test
