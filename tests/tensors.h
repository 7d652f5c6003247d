// SPDX-License-Identifier: Apache-2.0
// What tests of networks share: tensors from files and generators, and how far apart they are.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include "ubique/base/numbers/random.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/engine/contract/batch.h"
#include "ubique/io/tensors/safetensors_reader.h"

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

}  // namespace ubique::test
