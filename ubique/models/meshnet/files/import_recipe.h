// SPDX-License-Identifier: Apache-2.0
// What tensor shapes do not show: dilations, activation and preprocessing. Found in the metadata of
// our own exports, in a JSON file beside the weights (enMesh's or TensorFlow.js's), or in a table
// of the networks that BrainChop ships.
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

/// enMesh's flag "gelu" means ELU, because its code built that, except in the later networks with
/// group norms, which are GELU; hence `norm`.
LayerRecipe enmesh_recipe(const Json& json, Norm norm, const std::string& where);

/// NAME.json, model.json or config.json beside a weight file, if it is one of these two documents.
std::optional<Json> recipe_beside(const std::filesystem::path& weights);

/// Dilations and activation of a shipped network, found by its channels and classes, else the usual
/// ones for that number of layers. Input error naming `file` if there are none.
LayerRecipe known_recipe(const MeshNetConfig& config, const std::string& naming, std::size_t layers,
                         const std::string& file);

/// How BrainChop prepares the input of that network.
Preprocessing brainchop_preprocessing(const MeshNetConfig& config);

/// Takes over the configuration in the metadata of our own exports, if it is there, and turns
/// kernels back that were turned for BrainChop. Input error if it describes another network than
/// the weights.
void adopt_metadata(MeshNetFile& file, const std::map<std::string, std::string>& metadata,
                    const std::string& where);

/// Labels of a BrainChop folder's colormap.json; empty if it is missing or has another number of
/// classes.
std::vector<Label> read_colormap(const std::filesystem::path& folder, std::int64_t classes);

}  // namespace ubique::meshnet
