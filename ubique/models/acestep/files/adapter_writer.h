// SPDX-License-Identifier: Apache-2.0
// Writes a model's adapter for other programs.
#pragma once

#include <filesystem>

#include "ubique/models/acestep/net/model.h"

namespace ubique::acestep {

/// pytorch_lora_weights.safetensors: `path` is the file, or a folder that gets it. Its readers take
/// the numbers as they are, so the adapter's scale is multiplied into them; `raw` leaves them as
/// trained, with alpha in the metadata. Usage error if the model has no adapter; Parity error, and
/// nothing left behind, if reading it back gives others.
void write_original_adapter(AcestepModel& model, const std::filesystem::path& path, bool raw);
/// PEFT's folder: adapter_config.json and adapter_model.safetensors.
void write_peft_adapter(AcestepModel& model, const std::filesystem::path& folder);

}  // namespace ubique::acestep
