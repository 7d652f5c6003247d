// SPDX-License-Identifier: Apache-2.0
// The embedding of a singer's voice in a file of its own.
#pragma once

#include <filesystem>
#include <vector>

namespace ubique::data {

/// The numbers of the only tensor of an .npy, .safetensors or .pt file, in f32. Input error for
/// anything else.
std::vector<float> read_speaker(const std::filesystem::path& path);

}  // namespace ubique::data
