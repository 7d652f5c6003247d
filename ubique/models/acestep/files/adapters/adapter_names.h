// SPDX-License-Identifier: Apache-2.0
// File and tensor names of adapters, and which of a file's layers a transformer has.
#pragma once

#include <string>
#include <vector>

#include "ubique/models/acestep/files/adapters/adapter_file.h"

namespace ubique::acestep {

inline constexpr const char* kOriginalWeights = "pytorch_lora_weights.safetensors";
inline constexpr const char* kPeftWeights = "adapter_model.safetensors";
inline constexpr const char* kPeftConfig = "adapter_config.json";
inline constexpr const char* kPeftNames = "base_model.model.";  ///< before every tensor's name
inline constexpr const char* kDiffusersNames = "transformer.";
inline constexpr const char* kNameOfA = ".lora_A.weight";
inline constexpr const char* kNameOfB = ".lora_B.weight";

/// The file's layers that the transformer has in the same shape. Layers that no pass reads are left
/// out with a line in the log. Input error that lists the others.
std::vector<std::string> fitting_layers(const Dit& dit, const AdapterFile& file);

}  // namespace ubique::acestep
