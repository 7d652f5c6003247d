// SPDX-License-Identifier: Apache-2.0
// Writes a trained model as the folder of a whole model, as the original's programs open it.
#pragma once

#include <filesystem>
#include <string>

#include "ubique/models/acestep/net/model.h"

namespace ubique::acestep {

/// A copy of the base's folder with the trained weights in it; an adapter is merged into them.
/// `dtype` ("float32", "bfloat16", "float16") is that of the transformer and, if it was trained,
/// the text encoder; empty = as the base's files. Tensors that no pass reads are copied as they
/// are. Input error if the base is not there; Parity error, and nothing left behind, if reading it
/// back gives other numbers.
void write_model_folder(AcestepModel& model, const std::filesystem::path& folder,
                        const std::string& dtype);

}  // namespace ubique::acestep
