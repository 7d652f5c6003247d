// SPDX-License-Identifier: Apache-2.0
// The files of one checkpoint folder, written and read. How the folder comes into place is
// checkpoint_folder's business.
#pragma once

#include <filesystem>

#include "ubique/engine/checkpoint/checkpoint.h"

namespace ubique::engine {

/// Fills an empty folder: the model, the trainer if there is anything of it, the manifest last.
void write_checkpoint_files(const std::filesystem::path& folder, const Checkpoint& checkpoint);

/// Reads a complete folder, every file checked against the manifest before anything is taken.
Checkpoint read_checkpoint_files(const std::filesystem::path& folder, bool with_trainer);

/// Reads a model file that lies alone: nothing to check it against.
Checkpoint read_lone_model(const std::filesystem::path& file);

}  // namespace ubique::engine
