// SPDX-License-Identifier: Apache-2.0
// What a checkpoint says about itself in the header metadata of its safetensors files: texts, so
// that every reader of the format shows them.
#pragma once

#include <string>

#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/io/tensors/safetensors_json.h"

namespace ubique::engine {

std::string program_version();  ///< "ubique 0.1.0"

/// Are these the metadata of a model file that we wrote?
bool is_ours(const io::Metadata& metadata);

io::Metadata model_metadata(const Checkpoint& checkpoint);
/// Everything but the tensors. Input error that names `file` for metadata that are not ours.
void read_model_metadata(const io::Metadata& metadata, const std::string& file, Checkpoint& out);

io::Metadata trainer_metadata(const Checkpoint& checkpoint);
void read_trainer_metadata(const io::Metadata& metadata, const std::string& file, Checkpoint& out);

}  // namespace ubique::engine
