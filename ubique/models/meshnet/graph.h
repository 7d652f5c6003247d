// SPDX-License-Identifier: Apache-2.0
// A MeshNet as operators, for export.
#pragma once

#include "ubique/engine/graph.h"
#include "ubique/models/meshnet/weights.h"

namespace ubique::meshnet {

enum class GraphHead { Logits, Probabilities, Labels };

struct GraphOptions {
  bool fold = true;  ///< batch norms into the convolutions
  GraphHead head = GraphHead::Logits;
  bool min_max = false;  ///< intensities to 0..1 as the first step
};

/// Batch and extents are open: a network of convolutions takes any.
engine::Graph graph_of(const MeshNetFile& file, const GraphOptions& options = {});

}  // namespace ubique::meshnet
