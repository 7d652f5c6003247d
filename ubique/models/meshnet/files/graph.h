// SPDX-License-Identifier: Apache-2.0
// A MeshNet as operators, for export.
#pragma once

#include "ubique/engine/contract/family.h"
#include "ubique/models/meshnet/net/model.h"

namespace ubique::meshnet {

enum class GraphHead { Logits, Probabilities, Labels };

struct GraphOptions {
  bool fold = true;  ///< batch norms into the convolutions
  GraphHead head = GraphHead::Logits;
  bool min_max = false;              ///< intensities to 0..1 as the first step
  std::vector<std::int64_t> resize;  ///< the volume to these extents before that; empty: as it is
  bool browser_axes = false;         ///< kernels turned for volumes in (L, I, A)
};

std::vector<engine::Option> graph_options();
/// Keys fold, head, min_max, resize, axes (own, brainchop). Usage error, did you mean. TFJS folders
/// are for BrainChop: axes are brainchop there unless somebody says otherwise.
GraphOptions read_graph_options(const Config& config, const std::string& format,
                                const MeshNetConfig& network);

/// Batch and extents are open: a network of convolutions takes any.
engine::Graph graph_of(const MeshNetFile& file, const GraphOptions& options = {});

/// With what the network makes of a small volume of noise.
engine::GraphExport graph_export(MeshNetModel& model, const GraphOptions& options);

}  // namespace ubique::meshnet
