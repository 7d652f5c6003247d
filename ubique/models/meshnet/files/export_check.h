// SPDX-License-Identifier: Apache-2.0
// Exports that are read back before anybody is told that they exist.
#pragma once

#include <filesystem>
#include <string>

#include "ubique/models/meshnet/net/weights.h"

namespace ubique::meshnet {

/// "checkpoint", "safetensors", "pt", "brainchop" (batch norms folded). Parity error, and the file
/// removed, if reading gives other weights than were to be written. Usage error if `path` exists.
void export_checked(const MeshNetFile& file, const std::string& format,
                    const std::filesystem::path& path);

}  // namespace ubique::meshnet
