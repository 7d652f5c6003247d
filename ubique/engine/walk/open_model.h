// SPDX-License-Identifier: Apache-2.0
// Opens a model from whatever its files are: a checkpoint, a run folder, or files of the original
// systems.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/contract/family.h"

namespace ubique::engine {

/// The checkpoint that represents a run: its best, else its last; the folder of a downloaded model
/// for its name on the hub ("OWNER/NAME"). Any other path is returned as is. Input error for
/// "hf:OWNER/NAME" that is not here.
std::filesystem::path model_path(const std::filesystem::path& path);

/// The best checkpoint of the most recent run in `runs`, of `family` unless that is empty; an empty
/// path if there is none.
std::filesystem::path find_newest_model(const std::filesystem::path& runs,
                                        const std::string& family);
/// The same, with a log line that names it. Usage error if there is none.
std::filesystem::path newest_model(const std::filesystem::path& runs, const std::string& family);

/// The checkpoint at `path`, or of the run there, without its trainer; nothing if `path` is a file
/// of another system. Input error if it does not exist, and for a family other than `family`
/// (empty: any).
std::optional<Checkpoint> open_checkpoint(const std::filesystem::path& path,
                                          const std::string& family);

/// A checkpoint folder of ours, a run, or anything that a family recognizes; with its weights, on
/// the CPU. `family` empty: whichever it is; else Input error for a model of another family.
std::unique_ptr<Model> open_model(const std::filesystem::path& path,
                                  const std::string& family = {});

}  // namespace ubique::engine
