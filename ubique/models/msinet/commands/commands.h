// SPDX-License-Identifier: Apache-2.0
// What a person can do with MSI-Net: one function per row of `ubique VERB msinet`, one file each.
#pragma once

#include <filesystem>
#include <vector>

#include "ubique/data/images/datasets.h"
#include "ubique/engine/contract/family.h"
#include "ubique/engine/session/session.h"
#include "ubique/models/msinet/net/weights.h"

namespace ubique::msinet {

engine::Command synth_command();     ///< data msinet synth
engine::Command evaluate_command();  ///< evaluate msinet
engine::Command run_command();       ///< run msinet
engine::Command demo_command();      ///< demo msinet

/// Flags of every command that takes a data set.
std::vector<engine::Option> saliency_data_options();
/// Keys: data (a folder), dataset (a name of the catalogue or of a folder in DATA), stimuli, maps,
/// fixations, sigma, blur, valid_share. `size` is the network's. Usage error that says what is
/// missing.
data::SaliencyData open_data(const Config& config, const std::array<std::int64_t, 2>& size,
                             int threads);

/// Option of `convert`; its key is layout.
std::vector<engine::Option> layout_options();
/// Nothing if it is not given. Usage error, did you mean.
std::optional<FileLayout> read_layout(const Config& config);

/// A checkpoint of ours or any importable file, with its weights.
MsiNetFile open_file(const std::filesystem::path& path);
/// --model of a command; of a folder of named weights, those of --dataset and --device.
MsiNetFile open_file(const engine::Request& request);

/// The session of a network that only runs, on up to `batch` pictures at once.
engine::Session open_run_session(const MsiNetConfig& config, const engine::Request& request,
                                 std::int64_t batch = 1);

int host_threads();  ///< at least 1

}  // namespace ubique::msinet
