// SPDX-License-Identifier: Apache-2.0
// When memory runs out: how a plan gives way, and one trial step that finds out beforehand. The
// samples of an update stay the same.
#pragma once

#include <string>

#include "ubique/engine/loop/learner.h"
#include "ubique/plan/plan.h"

namespace ubique::engine {

/// The plan with half the samples at once or, where that is one already, with (more) gradient
/// checkpointing. Device error with advice if neither is left. `why` is what the device said.
plan::Plan reduce_memory(plan::Plan plan, const plan::Needs& needs, const std::string& why);

/// One forward and backward pass on the largest samples, whose gradients are thrown away: nothing
/// that is learned or drawn changes. Returns what the device said when memory ran out, else
/// nothing.
std::string try_batch(Learner& learner, const Dataset& dataset, const plan::Plan& plan);

/// The first line of an "out of memory", for people.
std::string first_words(const std::exception& error);

}  // namespace ubique::engine
