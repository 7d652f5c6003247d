// SPDX-License-Identifier: Apache-2.0
// Out-of-memory handling: a plan that uses less memory, and a trial step before training. The
// samples of an update stay the same.
#pragma once

#include <string>

#include "ubique/engine/loop/learner.h"
#include "ubique/plan/plan.h"

namespace ubique::engine {

/// The plan with half the micro-batch or, if that is 1 already, with (more) gradient checkpointing.
/// Device error with advice if nothing is left to reduce. `why` is the device's message.
plan::Plan reduce_memory(plan::Plan plan, const plan::Needs& needs, const std::string& why);

/// One forward and backward pass on the largest samples; weights and random generators are
/// unchanged afterwards. Returns the device's out-of-memory message, or an empty string.
std::string try_batch(Learner& learner, const Dataset& dataset, const plan::Plan& plan);

/// The first line of an out-of-memory message.
std::string first_line(const std::exception& error);

}  // namespace ubique::engine
