// SPDX-License-Identifier: Apache-2.0
// The layouts of the supported architectures: how their config.json describes a network, and the
// names and shapes of its tensors.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ubique/models/codelm/net/config.h"
#include "ubique/models/codelm/net/config_fields.h"

namespace ubique::codelm {

/// Sets everything of `config` that depends on its architecture.
void read_layout(const ConfigFields& fields, CodelmConfig& config);
/// A config.json for a network that was not read from one: GPT-BigCode, StarCoder2 and Llama.
Json write_layout(const CodelmConfig& config);

/// Names of the parts of a network in its files, without ".weight" and ".bias". Empty: the network
/// has no such part.
struct TensorNames {
  std::string tokens, positions, layer, final_norm, head;  ///< `layer` before the layer's number
  std::string first_norm, second_norm;                     ///< below: within a layer
  std::string qkv, q, k, v, output, q_norm, k_norm;
  std::string gate, up, down;  ///< without a gate `up` is the MLP's first layer
};

TensorNames tensor_names(const CodelmConfig& config);
/// "model.layers.3.mlp.c_fc" for names.up and layer 3.
std::string layer_name(const TensorNames& names, std::int64_t layer, const std::string& part);

using NamedShape = std::pair<std::string, std::vector<std::int64_t>>;
/// All parameters of the network in file order; a tied head is not among them.
std::vector<NamedShape> parameter_shapes(const CodelmConfig& config);
/// The linear layers of the blocks without ".weight", (out, in): what adapters and quantisation are
/// for.
std::vector<NamedShape> linear_shapes(const CodelmConfig& config);
/// More than any machine holds.
inline constexpr std::int64_t kMostParameters = std::int64_t{1} << 42;
/// How many numbers they have in all, at most kMostParameters and without listing all layers:
/// harmless for any configuration.
std::int64_t parameter_count(const CodelmConfig& config);

}  // namespace ubique::codelm
