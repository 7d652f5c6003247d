// SPDX-License-Identifier: Apache-2.0
// A picture of how a puzzle is solved: one small grid per supervision step, with given, right and
// wrong cells in different colours.
#pragma once

#include "ubique/data/puzzles/set/puzzle_set.h"
#include "ubique/io/images/png.h"
#include "ubique/models/trm/net/network.h"

namespace ubique::trm {

/// Solves one example of the set on the weights' device. The picture is empty if the tokens form no
/// grid or the network is a chat model.
io::Picture draw_steps(const Trm& network, at::ScalarType dtype, const data::PuzzleSet& set,
                       std::int64_t example);

}  // namespace ubique::trm
