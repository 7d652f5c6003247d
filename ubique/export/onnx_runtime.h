// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime, where somebody has it: the runtime that most ONNX files are for, asked through its
// Python package in a process of its own.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <optional>
#include <string>

#include "ubique/io/tensors/host_tensor.h"

namespace ubique::exporting {

/// What it computes from `input`; nothing if that Python or its onnxruntime is not there. Parity
/// error if it refuses the file.
std::optional<at::Tensor> run_onnx_runtime(const std::filesystem::path& model,
                                           const io::HostTensor& input, const std::string& python);

}  // namespace ubique::exporting
