// SPDX-License-Identifier: Apache-2.0
// MeshNet weights in the files of the systems that make them: arc-meshchop and enMesh .pt, the
// safetensors that BrainChop names .pth, BrainChop's folders. All become one form: a config and the
// state dict of network.h, on the host.
#pragma once

#include <filesystem>
#include <string>

#include "ubique/engine/contract/batch.h"
#include "ubique/models/meshnet/net/config.h"

namespace ubique::meshnet {

struct MeshNetFile {
  MeshNetConfig config;
  engine::NamedTensors tensors;  ///< f32 (counters i64), names and order of network.h
  std::string form;              ///< "arc-meshchop .pt", "BrainChop folder", ...: what it was
};

/// Can this be one? Looks at names, the file's first bytes and the JSON, loads no weights.
bool looks_like_meshnet(const std::filesystem::path& path);

/// Any of the forms above. Input error that says what was found for everything else.
MeshNetFile load_any(const std::filesystem::path& path);

/// W' = W·γ/√(σ²+ε), b' = β + (b−μ)·γ/√(σ²+ε) in double; the config loses its norm and gains
/// biases. Others come back as they are.
MeshNetFile fold_batch_norm(const MeshNetFile& file);

/// Upstream's names; the config is in the metadata, so that load_any gives back the same.
void export_safetensors(const MeshNetFile& file, const std::filesystem::path& path);
/// {"model_state_dict": ...} as arc-meshchop's own checkpoints nest it.
void export_torch(const MeshNetFile& file, const std::filesystem::path& path);

}  // namespace ubique::meshnet
