// SPDX-License-Identifier: Apache-2.0
// Frozen TensorFlow graphs: an MSI-Net's weights as constants under the checkpoint's names.
#pragma once

#include <filesystem>

#include "ubique/models/msinet/files/import_layers.h"

namespace ubique::msinet {

/// A .pb, or a SavedModel's whose constants sit in its functions. The way of upsampling is the
/// graph's own. Input error with names and shapes for others.
FoundLayers read_graph_layers(const std::filesystem::path& path);

/// Is there a layer among its constants?
bool looks_like_graph(const std::filesystem::path& path);

}  // namespace ubique::msinet
