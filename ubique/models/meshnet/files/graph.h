// SPDX-License-Identifier: Apache-2.0
// A MeshNet as a graph of operators, for export to ONNX and TensorFlow.js.
#pragma once

#include "ubique/engine/contract/family.h"
#include "ubique/models/meshnet/net/model.h"

namespace ubique::meshnet {

enum class GraphHead { Logits, Probabilities, Labels };

struct GraphOptions {
  bool fold = true;  ///< fold batch norms into the convolutions
  GraphHead head = GraphHead::Logits;
  bool min_max = false;                   ///< scale intensities to 0..1 inside the graph
  std::vector<std::int64_t> resize = {};  ///< resize the volume before that; empty = no resizing
  bool browser_axes = false;              ///< kernels turned for volumes in (L, I, A)
};

std::vector<engine::Option> graph_options();
/// Keys fold, head, min_max, resize, axes (own, brainchop); Usage error for invalid values. TFJS
/// folders are for BrainChop, so axes default to brainchop there.
GraphOptions read_graph_options(const Config& config, const std::string& format,
                                const MeshNetConfig& network);

/// Batch size and extents are left open.
engine::Graph graph_of(const MeshNetFile& file, const GraphOptions& options = {});

/// The graph with a sample input and the network's output for it, which export checks against.
engine::GraphExport graph_export(MeshNetModel& model, const GraphOptions& options);

}  // namespace ubique::meshnet
