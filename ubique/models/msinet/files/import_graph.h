// SPDX-License-Identifier: Apache-2.0
// Frozen TensorFlow graphs: an MSI-Net's weights as constants under the checkpoint's names.
#pragma once

#include <filesystem>

#include "ubique/models/msinet/files/import_layers.h"

namespace ubique::msinet {

/// A frozen .pb, or a SavedModel's with constants in its functions. The upsampling mode is read
/// from the graph. Input error with names and shapes for others.
FoundLayers read_graph_layers(const std::filesystem::path& path);

/// Does any constant have a layer's name?
bool looks_like_graph(const std::filesystem::path& path);

}  // namespace ubique::msinet
