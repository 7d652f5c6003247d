// SPDX-License-Identifier: Apache-2.0
// The one way from a request to a trained model: device, task, plan, loop. `train`, `demo` and
// `experiment` all take it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "ubique/engine/contract/family.h"
#include "ubique/engine/loop/trainer.h"
#include "ubique/engine/session/session.h"

namespace ubique::engine {

/// Flags of the training recipe and the run, the same for every family.
std::vector<Option> recipe_options();

/// Makes the keys of other programs' files known that the family reads, and gives ours their
/// values. Called once for a configuration, before it is read.
void adopt_keys(const TrainCommand& command, Config& config);

struct Trained {
  std::unique_ptr<Task> task;
  TrainResult result;    ///< of no steps after a dry run
  bool dry_run = false;  ///< the plan was made, nothing was trained
};

using MakeTask = std::function<std::unique_ptr<Task>(const Request&)>;

/// Trains what `make_task` makes of the request, whose output is the run folder. Reads the keys of
/// recipe_options(); all settings go into run.yaml. `session` is of mode Train and may have been
/// used before: its device is kept.
Trained train_walk(Session& session, Request request, const MakeTask& make_task);

}  // namespace ubique::engine
