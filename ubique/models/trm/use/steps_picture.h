// SPDX-License-Identifier: Apache-2.0
// A puzzle filling up, one small grid for every supervision step: what was given, what is right and
// what is wrong.
#pragma once

#include "ubique/data/puzzles/set/puzzle_set.h"
#include "ubique/io/images/png.h"
#include "ubique/models/trm/net/network.h"

namespace ubique::trm {

/// One example of the set, on the weights' device. An empty picture where tokens are no
/// grid, or the network speaks.
io::Picture draw_steps(const Trm& network, at::ScalarType dtype, const data::PuzzleSet& set,
                       std::int64_t example);

}  // namespace ubique::trm
