// SPDX-License-Identifier: Apache-2.0
// What a person can do with MeshNet: one function per row of `ubique VERB meshnet`, one file each.
#pragma once

#include <string>
#include <vector>

#include "ubique/engine/contract/family.h"
#include "ubique/engine/session/session.h"
#include "ubique/models/meshnet/net/weights.h"

namespace ubique::meshnet {

engine::Command synth_command();       ///< data meshnet synth
engine::Command splits_command();      ///< data meshnet splits
engine::Command prepare_command();     ///< data meshnet prepare
engine::Command evaluate_command();    ///< evaluate meshnet
engine::Command experiment_command();  ///< experiment meshnet
engine::Command validate_command();    ///< validate meshnet
engine::Command run_command();         ///< run meshnet
engine::Command demo_command();        ///< demo meshnet

/// Flags that every command with a study has: where it is and how its scans are prepared.
std::vector<engine::Option> data_options();
/// The same for the folds.
std::vector<engine::Option> fold_options();

/// The same for what becomes of the intensities.
std::vector<engine::Option> intensity_options();

/// A checkpoint of ours or any importable file, with its weights.
MeshNetFile open_file(const std::filesystem::path& path);

/// The session of a network that only runs: its own needs, the person's wishes, mode run. Reads the
/// wishes from the request and refuses keys that nobody asked for.
engine::Session open_run_session(const MeshNetConfig& config, const engine::Request& request);

}  // namespace ubique::meshnet
