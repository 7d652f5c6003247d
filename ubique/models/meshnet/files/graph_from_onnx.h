// SPDX-License-Identifier: Apache-2.0
// Reads an ONNX model of any exporter as an engine::Graph: a chain of convolutions, norms and
// activations. An activation written as several elementwise operators is recognised by its values.
#pragma once

#include <string>

#include "ubique/engine/contract/graph.h"
#include "ubique/io/graphs/onnx.h"

namespace ubique::meshnet {

/// Weights of any type are converted to f32. Input error naming `where`, the node and the reason
/// for unsupported operators and attributes.
engine::Graph graph_from_onnx(const io::OnnxModel& model, const std::string& where);

}  // namespace ubique::meshnet
