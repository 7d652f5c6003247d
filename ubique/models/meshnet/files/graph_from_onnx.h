// SPDX-License-Identifier: Apache-2.0
// An ONNX model read as a graph of ours, whoever wrote it: a chain of convolutions, norms and
// activations. Activations that are spelt out in small operators are known by what they compute.
#pragma once

#include <string>

#include "ubique/engine/contract/graph.h"
#include "ubique/io/graphs/onnx.h"

namespace ubique::meshnet {

/// Weights become f32, whatever they are stored in. Input error naming `where`, the node and what
/// is wrong with it, for operators and forms that no graph of ours has.
engine::Graph graph_from_onnx(const io::OnnxModel& model, const std::string& where);

}  // namespace ubique::meshnet
