// SPDX-License-Identifier: Apache-2.0
// What the commands that solve puzzles share: the model, its device, and how many puzzles at once.
#pragma once

#include <filesystem>
#include <memory>

#include "ubique/data/puzzles/set/puzzle_set.h"
#include "ubique/engine/contract/family.h"
#include "ubique/engine/session/session.h"
#include "ubique/models/trm/net/model.h"
#include "ubique/models/trm/use/solver.h"

namespace ubique::trm {

/// A checkpoint, a run, or any file to import.
std::unique_ptr<TrmModel> open_trm(const std::filesystem::path& path);

/// Plans for a model that only solves, reads the device's wishes and finishes the configuration;
/// moves the network there.
engine::Session open_solving(TrmModel& model, const engine::Request& request);

/// Until a person stops it.
std::function<bool()> goes_on_until_stopped(const engine::Request& request);

/// As the plan says; `count` puzzles are to be solved.
SolverOptions solver_options(const plan::Plan& plan, std::int64_t count);

/// How the puzzles of a network stand on a grid; of kind Other where nobody can tell.
data::PuzzleLayout layout_of(const TrmConfig& config);

}  // namespace ubique::trm
