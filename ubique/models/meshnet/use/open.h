// SPDX-License-Identifier: Apache-2.0
// Opens a model for use: its weights from any file, and the session that it runs in.
#pragma once

#include <filesystem>

#include "ubique/engine/contract/family.h"
#include "ubique/engine/session/session.h"
#include "ubique/models/meshnet/net/weights.h"

namespace ubique::meshnet {

/// Config and weights of a run, a checkpoint or any importable file.
MeshNetFile open_file(const std::filesystem::path& path);

/// Opens the session for inference: reads the plan's wishes from the request, refuses unknown keys,
/// and applies the plan.
engine::Session open_run_session(const MeshNetConfig& config, const engine::Request& request);

}  // namespace ubique::meshnet
