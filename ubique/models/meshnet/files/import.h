// SPDX-License-Identifier: Apache-2.0
// Reads MeshNet weights from the files of other systems: arc-meshchop and enMesh .pt, the
// safetensors that BrainChop names .pth, BrainChop's folders, ONNX.
#pragma once

#include <filesystem>

#include "ubique/models/meshnet/net/weights.h"

namespace ubique::meshnet {

/// True if the file's or folder's names, first bytes and JSON look like a MeshNet; loads no
/// weights.
bool looks_like_meshnet(const std::filesystem::path& path);

/// Any of the formats above. Otherwise an Input error that says what was found.
MeshNetFile load_any(const std::filesystem::path& path);

}  // namespace ubique::meshnet
