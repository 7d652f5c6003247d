// SPDX-License-Identifier: Apache-2.0
// Lowers a model's graph to ONNX operators.
#pragma once

#include "ubique/engine/contract/graph.h"
#include "ubique/io/graphs/onnx.h"

namespace ubique::exporting {

struct OnnxOptions {
  /// Of weights and arithmetic: F32 or F16; I8 stores convolution weights in 8 bits with a scale
  /// per output channel, and computes in f32.
  DType dtype = DType::F32;
  bool half_io = false;  ///< with F16: input and output are f16 too
};

/// Opset 17. Input and output are called "input" and "output".
io::OnnxModel to_onnx(const engine::Graph& graph, const OnnxOptions& options = {});

}  // namespace ubique::exporting
