// SPDX-License-Identifier: Apache-2.0
// Files written beside an exported MeshNet: names and colours of its labels, its entry in
// BrainChop's list of models, and the manifest of our own web page.
#pragma once

#include <map>
#include <string>

#include "ubique/models/meshnet/net/config.h"

namespace ubique::meshnet {

/// colormap.json, labels.json and brainchop.json, the entry for BrainChop's `inferenceModelsList`.
/// The entry expects them in a folder of that name among BrainChop's models. Warns if BrainChop
/// prepares scans differently or a layer may not fit into a texture.
std::map<std::string, std::string> brainchop_sidecar_files(const MeshNetConfig& config,
                                                           const std::string& folder_name);

/// ubique.json, from which the page of `--format web` prepares scans and checks its results.
std::map<std::string, std::string> web_sidecar_files(const MeshNetConfig& config);

}  // namespace ubique::meshnet
