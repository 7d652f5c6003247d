// SPDX-License-Identifier: Apache-2.0
// Files that go beside an exported MeshNet: names and colours of its labels, its entry in
// BrainChop's list of models, and what our own page must know about it.
#pragma once

#include <map>
#include <string>

#include "ubique/models/meshnet/net/config.h"

namespace ubique::meshnet {

/// colormap.json, labels.json and brainchop.json, the entry for BrainChop's `inferenceModelsList`.
/// Warns where a graphics card may not hold a layer.
std::map<std::string, std::string> brainchop_companions(const MeshNetConfig& config);

/// ubique.json, with which the page of `--format web` prepares scans and checks itself.
std::map<std::string, std::string> web_companions(const MeshNetConfig& config);

}  // namespace ubique::meshnet
