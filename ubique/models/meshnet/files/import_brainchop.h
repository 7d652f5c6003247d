// SPDX-License-Identifier: Apache-2.0
// BrainChop's model folders: a TensorFlow.js chain of convolutions read as a MeshNet.
#pragma once

#include <filesystem>

#include "ubique/base/text/json_fwd.h"
#include "ubique/models/meshnet/files/import_recipe.h"
#include "ubique/models/meshnet/net/weights.h"

namespace ubique::meshnet {

/// A folder with model.json, or that file.
MeshNetFile import_brainchop(const std::filesystem::path& path);

/// Dilations and activation of a model.json without its weights.
LayerRecipe tfjs_recipe(const Json& document, const std::string& where);

}  // namespace ubique::meshnet
