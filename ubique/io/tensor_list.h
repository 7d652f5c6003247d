// SPDX-License-Identifier: Apache-2.0
// What a file of tensors holds, whatever its format: for those who must say why it is not theirs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ubique/io/tensors/tensor_info.h"

namespace ubique::io {

/// Names, types and shapes in a safetensors file, PyTorch's .pt and .pth, Keras's .h5, NumPy's .npz
/// or TensorFlow's .pb. Input error of its reader for a damaged one, and for files of other kinds.
std::vector<TensorInfo> list_tensors(const std::filesystem::path& path);

/// "3 tensors: a [2, 3], b [4], c []": the first four of them; or why they cannot be listed.
std::string contents_text(const std::filesystem::path& path);

}  // namespace ubique::io
