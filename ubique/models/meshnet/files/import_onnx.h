// SPDX-License-Identifier: Apache-2.0
// ONNX files read as a MeshNet: our own exports and those of other exporters.
#pragma once

#include <filesystem>

#include "ubique/models/meshnet/net/weights.h"

namespace ubique::meshnet {

bool looks_like_meshnet_onnx(const std::filesystem::path& path);  ///< 3D convolutions in it
MeshNetFile import_onnx(const std::filesystem::path& path);

}  // namespace ubique::meshnet
