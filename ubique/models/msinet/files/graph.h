// SPDX-License-Identifier: Apache-2.0
// An MSI-Net as operators, for export.
#pragma once

#include "ubique/engine/contract/family.h"
#include "ubique/models/msinet/net/model.h"

namespace ubique::msinet {

struct GraphOptions {
  bool range =
      true;  ///< maps are brought to 0..1; else they come as the last convolution gives them
};

std::vector<engine::Option> graph_options();
/// Key head: map, raw. Usage error, did you mean, and for a map in TensorFlow.js, whose layers
/// cannot divide: there raw is the default.
GraphOptions read_graph_options(const Config& config, const std::string& format);

/// Takes pictures (B, 3, H, W), 0 to 255, and subtracts the means itself; batch, height and width
/// are open, the sides multiples of config.reduction().
engine::Graph graph_of(const MsiNetFile& file, const GraphOptions& options = {});

/// With what the network makes of a small picture, and msinet.json, which says what goes in and
/// what comes out.
engine::GraphExport graph_export(MsiNetModel& model, const GraphOptions& options = {});

}  // namespace ubique::msinet
