// SPDX-License-Identifier: Apache-2.0
// Writes MeshNet weights under arc-meshchop's tensor names. The configuration goes into the file's
// metadata, so that an import gives back the same model.
#pragma once

#include <filesystem>
#include <string>

#include "ubique/models/meshnet/net/weights.h"

namespace ubique::meshnet {

// Metadata of exported files.
inline constexpr const char* kConfigKey = "meshnet_config";    ///< the configuration as JSON
inline constexpr const char* kAxesKey = "meshnet_axes";        ///< axes that kernels were turned to
inline constexpr const char* kBatchesKey = "meshnet_batches";  ///< num_batches_tracked per layer
inline constexpr const char* kBrowserAxes = "LIA";             ///< the one value of kAxesKey

void export_safetensors(const MeshNetFile& file, const std::filesystem::path& path);
/// {"model_state_dict": ...}, as in arc-meshchop's own checkpoints.
void export_torch(const MeshNetFile& file, const std::filesystem::path& path);

/// Writes "checkpoint", "safetensors" or "pt", reads it back and compares bit by bit. Parity error,
/// and the file removed, if they differ. Usage error if `path` exists.
void export_checked(const MeshNetFile& file, const std::string& format,
                    const std::filesystem::path& path);

}  // namespace ubique::meshnet
