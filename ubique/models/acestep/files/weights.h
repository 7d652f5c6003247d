// SPDX-License-Identifier: Apache-2.0
// Reads the weights of one network from its safetensors file.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "ubique/nn/layers/network.h"

namespace ubique::acestep {

/// Fills every parameter, whatever the file's dtype. A weight that is stored as direction and
/// length (weight norm: NAME_v and NAME_g) is folded. Tensors in `ignored` are not read. Input
/// error that names the file and the tensor for a missing or unknown one and for another shape.
void read_weights(nn::Network& network, const std::filesystem::path& path,
                  const std::set<std::string>& ignored = {});

/// How load_weights() keeps what it reads.
struct LoadOptions {
  c10::Device device = c10::kCPU;
  c10::ScalarType dtype = c10::ScalarType::Float;
  std::set<std::string> ignored = {};  ///< tensors of the file that are not read
  /// Large tables of which few rows are needed: the file's own pages, mapped, on the host.
  std::set<std::string> mapped = {};
  /// Weights that are kept in fewer bits, each as soon as it is read.
  std::map<std::string, nn::LinearWeights*> quantized = {};
  kernels::QuantFormat format = kernels::QuantFormat::Int8;
};

/// read_weights() for a network made under nn::WithoutMemory: takes memory for what it keeps only.
/// Mapped tensors must never be written.
void load_weights(nn::Network& network, const std::filesystem::path& path,
                  const LoadOptions& options);

/// v·g/|v| with the length of v over all dimensions but the first.
at::Tensor folded_weight(const at::Tensor& v, const at::Tensor& g);

/// The names of a list of shapes.
std::set<std::string> names_of(const nn::NamedShapes& shapes);

}  // namespace ubique::acestep
