// SPDX-License-Identifier: Apache-2.0
// Lowers a model's graph to a TensorFlow.js layers model, as BrainChop loads it: standard Keras
// layers only, channels last.
#pragma once

#include "ubique/engine/contract/graph.h"
#include "ubique/io/graphs/tfjs.h"

namespace ubique::exporting {

struct TfjsLayersModel {
  Json document;  ///< model.json without its manifest
  std::vector<io::TfjsWeight> weights;
};

/// `dtype` of the stored weights: F32, F16, or U8 with a scale per tensor. An instance norm becomes
/// the suffix `_gn` of a layer's name, which BrainChop interprets. Usage error for steps that such
/// a model cannot have, such as batch norms, which must be folded.
TfjsLayersModel to_tfjs(const engine::Graph& graph, DType dtype = DType::F32);

}  // namespace ubique::exporting
