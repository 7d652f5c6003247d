// SPDX-License-Identifier: Apache-2.0
// What weights alone do not say: dilations, activation and how the input is normalised. It comes
// from a JSON beside them (enMesh's or TensorFlow.js's) or from what is known about the networks
// that BrainChop ships.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ubique/base/text/json_fwd.h"
#include "ubique/models/meshnet/net/weights.h"

namespace ubique::meshnet {

struct LayerRecipe {
  std::vector<std::int64_t> dilations;  ///< of the layers before the classifier
  std::optional<Activation> activation;
  double dropout = 0;
};

bool is_tfjs_document(const Json& json);    ///< a layers model of TensorFlow.js
bool is_enmesh_document(const Json& json);  ///< {"layers": [{"dilation": ...}, ...]}

/// `norm` decides what enMesh's flag "gelu" means: its code built ELU from it, and only the later
/// networks with group norms are GELU.
LayerRecipe enmesh_recipe(const Json& json, Norm norm, const std::string& where);

/// NAME.json, model.json or config.json beside a weight file, if it is one of the two kinds.
std::optional<Json> recipe_beside(const std::filesystem::path& weights);

/// Dilations and activation of a network that is known by its widths, else by its number of layers;
/// Input error naming `file` if nothing is known.
LayerRecipe known_recipe(const MeshNetConfig& config, const std::string& naming, std::size_t layers,
                         const std::string& file);

/// How BrainChop prepares the input of that network.
Preprocessing brainchop_preprocessing(const MeshNetConfig& config);

/// Takes over the configuration in the metadata of our own exports, if it is there, and turns
/// kernels back that were turned for BrainChop. Input error if it describes another network than
/// the weights.
void adopt_metadata(MeshNetFile& file, const std::map<std::string, std::string>& metadata,
                    const std::string& where);

/// colormap.json of a BrainChop folder; empty if there is none or it does not fit the classes.
std::vector<Label> read_colormap(const std::filesystem::path& folder, std::int64_t classes);

}  // namespace ubique::meshnet
