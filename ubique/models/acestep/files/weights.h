// SPDX-License-Identifier: Apache-2.0
// Reads the weights of one network from its safetensors file.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "ubique/nn/layers/network.h"

namespace ubique::acestep {

/// Fills every parameter, whatever the file's dtype. A weight that is stored as direction and
/// length (weight norm: NAME_v and NAME_g) is folded. Tensors in `ignored` are not read. Input
/// error that names the file and the tensor for a missing or unknown one and for another shape.
void read_weights(nn::Network& network, const std::filesystem::path& path,
                  const std::set<std::string>& ignored = {});

/// v·g/|v| with the length of v over all dimensions but the first.
at::Tensor folded_weight(const at::Tensor& v, const at::Tensor& g);

/// The names of a list of shapes.
std::set<std::string> names_of(const nn::NamedShapes& shapes);

}  // namespace ubique::acestep
