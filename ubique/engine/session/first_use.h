// SPDX-License-Identifier: Apache-2.0
// The first use of a device by a model: which probes one call needs, and the plan after them.
#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <vector>

#include "ubique/plan/plan.h"
#include "ubique/probe/core/probe.h"

namespace ubique::engine {

/// What a plan is made of, beside verdicts.
struct FirstUse {
  const device::Facts& facts;
  const plan::Needs& needs;
  const plan::Wishes& wishes;
};

/// The probes that this plan rests on and that no verdict is known of. On an accelerator:
/// everything that the model computes, in the plan's dtype and layout, and in others where speed
/// decides. A CPU computes the reference itself: there, only the heaviest convolutions, and only to
/// decide between layouts and dtypes. Gradients for training only. Small ones come first.
std::vector<probe::Probe> first_use_probes(const FirstUse& call, const plan::Plan& plan,
                                           const probe::Report& known);

/// The plan after its probes: kept verdicts, and fresh ones for some seconds at most. What is left
/// then counts as not measured, and so does the rest once `stop` says so.
plan::Plan probed_plan(const FirstUse& call, c10::Device device, const std::function<bool()>& stop);

}  // namespace ubique::engine
