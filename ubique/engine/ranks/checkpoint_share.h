// SPDX-License-Identifier: Apache-2.0
// A checkpoint that only rank 0 can read, for all ranks.
#pragma once

#include <optional>

#include "ubique/dist/world.h"
#include "ubique/engine/checkpoint/checkpoint.h"

namespace ubique::engine {

/// All ranks: rank 0's checkpoint, if it has one; the others' are ignored.
std::optional<Checkpoint> share_from_first(const dist::World& world,
                                           std::optional<Checkpoint> mine);

}  // namespace ubique::engine
