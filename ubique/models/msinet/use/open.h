// SPDX-License-Identifier: Apache-2.0
// Opening what a command needs: the weights that --model names, and the session to run them in.
#pragma once

#include <filesystem>

#include "ubique/engine/contract/family.h"
#include "ubique/engine/session/session.h"
#include "ubique/models/msinet/net/weights.h"

namespace ubique::msinet {

/// A checkpoint of ours or any importable file, with its weights.
MsiNetFile open_file(const std::filesystem::path& path);
/// --model of a command; in a folder of named weights, the file of --dataset and of the session's
/// device.
MsiNetFile open_file(const engine::Request& request, engine::Session& session);

/// Starts the session for inference on up to `batch` pictures at once.
void start_run_session(engine::Session& session, const engine::Request& request,
                       const MsiNetConfig& config, std::int64_t batch = 1);

}  // namespace ubique::msinet
