// SPDX-License-Identifier: Apache-2.0
// LoRA adapters as folders of PEFT (adapter_config.json, adapter_model.safetensors) and of mlx-lm
// (adapter_config.json, adapters.safetensors, whose matrices are transposed).
#pragma once

#include <filesystem>
#include <string>

#include "ubique/engine/contract/batch.h"
#include "ubique/models/codelm/net/model.h"

namespace ubique::codelm {

/// Is it a folder with an adapter of either form?
bool looks_like_adapter(const std::filesystem::path& path);

/// Puts the adapter of a folder on the model, whose base it must fit: Input error that names the
/// tensor and both shapes, a target that matches nothing, and settings that are not supported
/// (DoRA, other ranks per layer, trained biases). `base` is where the model was read from.
void read_adapter(CodelmModel& model, const std::filesystem::path& folder,
                  const std::filesystem::path& base);

enum class AdapterForm { Peft, Mlx };
/// Writes the model's adapters; Usage error if it has none. Parity error, and nothing left behind,
/// if reading them back gives other numbers.
void write_adapter(CodelmModel& model, const std::filesystem::path& folder, AdapterForm form);

}  // namespace ubique::codelm
