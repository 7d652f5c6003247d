// SPDX-License-Identifier: Apache-2.0
// Checks an ONNX file with ONNX Runtime, if its Python package is installed, in a separate process.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ubique/io/tensors/host_tensor.h"

namespace ubique::exporting {

/// Its outputs by their names, for these inputs; nothing if that Python or its onnxruntime is
/// missing. Parity error if it rejects the file.
std::optional<std::map<std::string, at::Tensor>> run_onnx_runtime(
    const std::filesystem::path& model, const std::vector<io::HostTensor>& inputs,
    const std::string& python);

}  // namespace ubique::exporting
