// SPDX-License-Identifier: Apache-2.0
// Memory, operations and kernels that this implementation needs, for the plan.
#pragma once

#include <array>
#include <cstdint>

#include "ubique/models/meshnet/net/config.h"
#include "ubique/plan/needs.h"

namespace ubique::meshnet {

/// Needs of training and inference on one volume of that shape; `mask_bytes` per voxel.
plan::Needs needs_of(const MeshNetConfig& config, const std::array<std::int64_t, 3>& shape,
                     std::int64_t mask_bytes = 1);

}  // namespace ubique::meshnet
