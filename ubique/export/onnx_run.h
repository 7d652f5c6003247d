// SPDX-License-Identifier: Apache-2.0
// Computes an ONNX model with LibTorch on the CPU, operator by operator, to check exported files.
// Slow; supports the operators that onnx.cpp uses.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

#include "ubique/io/graphs/onnx.h"

namespace ubique::exporting {

/// The output for this input. Input error for an unsupported operator.
at::Tensor run_onnx(const io::OnnxModel& model, const at::Tensor& input);

/// The outputs of a model with several, by their names, for inputs by their names.
std::map<std::string, at::Tensor> run_onnx(const io::OnnxModel& model,
                                           std::map<std::string, at::Tensor> inputs);

}  // namespace ubique::exporting
