// SPDX-License-Identifier: Apache-2.0
// An MSI-Net as a graph of operators, for export.
#pragma once

#include "ubique/engine/contract/family.h"
#include "ubique/models/msinet/net/model.h"

namespace ubique::msinet {

struct GraphOptions {
  bool range = true;  ///< scale maps to 0..1; else the raw output of the last convolution
};

std::vector<engine::Option> graph_options();
/// Key head: map, raw. The layers of TensorFlow.js cannot divide, so there raw is the default and
/// map a Usage error. Usage error, did you mean, for other values.
GraphOptions read_graph_options(const Config& config, const std::string& format);

/// Input (B, 3, H, W), 0 to 255; the graph subtracts the means. Batch, height and width are
/// dynamic, the sides multiples of config.reduction().
engine::Graph graph_of(const MsiNetFile& file, const GraphOptions& options = {});

/// The graph with a sample input, its expected output, and msinet.json, which describes both.
engine::GraphExport graph_export(MsiNetModel& model, const GraphOptions& options = {});

}  // namespace ubique::msinet
