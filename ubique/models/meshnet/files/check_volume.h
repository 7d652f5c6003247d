// SPDX-License-Identifier: Apache-2.0
// The volume on which an exported network is compared with the original.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "ubique/models/meshnet/net/config.h"

namespace ubique::meshnet {

/// The network's labels of a volume: (1, C, D, H, W) to (1, D, H, W).
using LabelsOf = std::function<at::Tensor(const at::Tensor&)>;

/// A volume (1, C, 17, 18, 37) with values from about 0 to 1, on which as many of the classes occur
/// as on any of the few that are tried: where a network answers background only, every rounding of
/// its weights agrees with it. Extents differ, and one is larger than the widest kernel, so that
/// edges and middle are both tested.
at::Tensor check_volume(const MeshNetConfig& config, const LabelsOf& labels_of);

}  // namespace ubique::meshnet
