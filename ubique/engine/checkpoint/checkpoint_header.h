// SPDX-License-Identifier: Apache-2.0
// Checkpoint fields (family, config, scores, ...) as header metadata of the safetensors files:
// plain strings, so that any reader of the format can show them.
#pragma once

#include <string>

#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/io/tensors/safetensors_json.h"

namespace ubique::engine {

std::string program_version();  ///< "ubique 0.1.0"

/// Is this the metadata of a model file that ubique wrote?
bool is_ours(const io::Metadata& metadata);

io::Metadata model_metadata(const Checkpoint& checkpoint);
/// Everything but the tensors. Input error that names `file` for other metadata.
void read_model_metadata(const io::Metadata& metadata, const std::string& file, Checkpoint& out);

io::Metadata trainer_metadata(const Checkpoint& checkpoint);
void read_trainer_metadata(const io::Metadata& metadata, const std::string& file, Checkpoint& out);

}  // namespace ubique::engine
