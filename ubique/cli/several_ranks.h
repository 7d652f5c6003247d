// SPDX-License-Identifier: Apache-2.0
// Commands that a launcher started as several processes: who talks, and how `run` and `evaluate`
// become one command of all ranks.
#pragma once

#include "ubique/dist/place.h"
#include "ubique/engine/contract/request.h"

namespace ubique::cli {

/// Of several processes at one terminal, rank 0 alone talks; `ubique launch` gives each rank a log.
void hush_other_ranks(const dist::Place& place);

/// Runs a row of `ubique VERB FAMILY`. The rows of `run` and `evaluate` join the other ranks first:
/// they share out their work, and every rank has the whole outcome. If one fails the others hear
/// why. (`train` joins by itself.)
engine::Outcome run_with_others(const engine::Command& command, const engine::Request& request);

}  // namespace ubique::cli
