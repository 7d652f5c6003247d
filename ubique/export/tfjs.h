// SPDX-License-Identifier: Apache-2.0
// A model's graph as a TensorFlow.js layers model, the kind that BrainChop loads: Keras layers,
// channels last, of the stock kinds alone.
#pragma once

#include "ubique/engine/contract/graph.h"
#include "ubique/io/graphs/tfjs.h"

namespace ubique::exporting {

struct TfjsLayersModel {
  Json document;  ///< model.json without its manifest
  std::vector<io::TfjsWeight> weights;
};

/// `dtype` of the stored weights: F32, F16, or U8 with a scale per weight. Instance norms become
/// the `_gn` at the end of a layer's name that BrainChop knows. Usage error for steps that such a
/// model cannot have, batch norms among them: fold them.
TfjsLayersModel to_tfjs(const engine::Graph& graph, DType dtype = DType::F32);

}  // namespace ubique::exporting
