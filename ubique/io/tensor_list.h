// SPDX-License-Identifier: Apache-2.0
// Lists the tensors of a file of any known format, for error messages about files that do not fit.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ubique/io/tensors/tensor_info.h"

namespace ubique::io {

/// Names, dtypes and shapes in a safetensors file, PyTorch's .pt and .pth, Keras's .h5, NumPy's
/// .npz or TensorFlow's .pb. Input error for damaged files and for other formats.
std::vector<TensorInfo> list_tensors(const std::filesystem::path& path);

/// "3 tensors: a [2, 3], b [4], c []": the first four of them; or why they cannot be listed.
std::string contents_text(const std::filesystem::path& path);

}  // namespace ubique::io
