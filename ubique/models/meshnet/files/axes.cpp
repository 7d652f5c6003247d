// SPDX-License-Identifier: Apache-2.0
// Permutes and flips tensors between RAS and LIA axes.
#include "ubique/models/meshnet/files/axes.h"

#include <ATen/ATen.h>

namespace ubique::meshnet {

at::Tensor to_browser_axes(const at::Tensor& tensor) {
  return tensor.transpose(-2, -1).flip({-3, -2}).contiguous();  // (..., R, S, A), (..., L, I, A)
}

at::Tensor from_browser_axes(const at::Tensor& tensor) {
  return tensor.flip({-3, -2}).transpose(-2, -1).contiguous();
}

bool trained_in_browser_axes(const MeshNetConfig& config) {
  return config.preprocessing.conform == "brainchop";
}

MeshNetFile turn_kernels(const MeshNetFile& file, at::Tensor (*turn)(const at::Tensor&)) {
  auto turned = file;
  for (auto& [name, tensor] : turned.tensors) {
    if (tensor.dim() == 5) tensor = turn(tensor);
  }
  return turned;
}

}  // namespace ubique::meshnet
