// SPDX-License-Identifier: Apache-2.0
// What the network's tests share: golden files as tensors, small networks, comparisons.
#pragma once

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>

#include "tests/shared.h"
#include "ubique/base/random.h"
#include "ubique/engine/tensor_bytes.h"
#include "ubique/io/safetensors.h"
#include "ubique/models/meshnet/network.h"

namespace ubique::test {

inline engine::NamedTensors read_tensors(const std::filesystem::path& path) {
  const io::SafetensorsFile file(path);
  engine::NamedTensors tensors;
  for (const auto& info : file.tensors()) {
    auto tensor = at::empty(info.shape, engine::scalar_type_of(info.dtype));
    file.read(info, engine::writable_bytes_of(tensor));
    tensors.emplace_back(info.name, tensor);
  }
  return tensors;
}

inline std::map<std::string, at::Tensor> by_name(const engine::NamedTensors& tensors) {
  return {tensors.begin(), tensors.end()};
}

inline at::Tensor random_tensor(at::IntArrayRef shape, std::uint64_t seed) {
  auto tensor = at::empty(shape, at::TensorOptions(at::kFloat));
  Random(seed).fill_normal(
      {tensor.mutable_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())});
  return tensor;
}

/// Largest absolute difference; NaN if one is NaN.
inline double distance(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes()) return INFINITY;
  if (a.numel() == 0) return 0;
  return (a.detach().cpu().to(at::kDouble) - b.detach().cpu().to(at::kDouble))
      .abs()
      .max()
      .item<double>();
}

/// The same as a share of the second one's largest value.
inline double relative_distance(const at::Tensor& a, const at::Tensor& b) {
  return distance(a, b) / std::max(1e-30, b.detach().abs().max().item<double>());
}

/// A network whose every tensor, biases and statistics too, has values worth testing.
inline std::shared_ptr<meshnet::MeshNet> lively_network(const meshnet::MeshNetConfig& config,
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
