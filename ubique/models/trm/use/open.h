// SPDX-License-Identifier: Apache-2.0
// Opening a model for inference: the weights, the session with its device, the batch size.
#pragma once

#include <filesystem>
#include <memory>

#include "ubique/data/puzzles/set/puzzle_set.h"
#include "ubique/engine/contract/family.h"
#include "ubique/engine/session/session.h"
#include "ubique/models/trm/net/model.h"
#include "ubique/models/trm/use/solver.h"

namespace ubique::trm {

/// Opens a checkpoint, a run folder, or a weight file to import.
std::unique_ptr<TrmModel> open_trm(const std::filesystem::path& path);

/// Selects the device, plans inference and moves the network there; finishes request.config.
engine::Session open_model_session(TrmModel& model, const engine::Request& request);

/// For SolverOptions::should_continue: true until the user stops the program.
std::function<bool()> continue_until_stopped(const engine::Request& request);

/// Batch size and recording from the plan, for `count` puzzles.
SolverOptions solver_options(const plan::Plan& plan, std::int64_t count);

/// The grid of a network's puzzles; of kind Other if it is unknown.
data::PuzzleLayout layout_of(const TrmConfig& config);

}  // namespace ubique::trm
