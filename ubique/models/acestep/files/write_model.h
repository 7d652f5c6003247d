// SPDX-License-Identifier: Apache-2.0
// Writes the parts of a model as the original's folders have them, and whole new models.
#pragma once

#include <filesystem>
#include <string>

#include "ubique/base/text/json_fwd.h"
#include "ubique/models/acestep/files/model_folder.h"

namespace ubique::acestep {

/// "float32", "bfloat16" or "float16"; Usage error for another name.
c10::ScalarType named_dtype(const std::string& name);

/// config.json and weights of one part, under the original's names, into `folder`, which is made.
/// The vocoder's head is stored as direction and length (weight norm). Projectors, which only
/// training needs, are written if the network has them.
void write_part(nn::Network& network, const Json& config, Part part,
                const std::filesystem::path& folder, c10::ScalarType dtype);

/// A model with fresh weights, with vocabularies of its own for the tags and lyrics of synthetic
/// music: the start of a training from nothing. The vocabularies decide the sizes of the token
/// tables. Usage error if `folder` exists.
void write_new_model(const std::filesystem::path& folder, NetworkConfigs networks,
                     std::uint64_t seed, c10::ScalarType dtype);

}  // namespace ubique::acestep
