// SPDX-License-Identifier: Apache-2.0
// Checks an ONNX file with ONNX Runtime, if its Python package is installed, in a separate process.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <optional>
#include <string>

#include "ubique/io/tensors/host_tensor.h"

namespace ubique::exporting {

/// Its output for `input`; nothing if that Python or its onnxruntime is missing. Parity error if it
/// rejects the file.
std::optional<at::Tensor> run_onnx_runtime(const std::filesystem::path& model,
                                           const io::HostTensor& input, const std::string& python);

}  // namespace ubique::exporting
