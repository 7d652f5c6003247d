// SPDX-License-Identifier: Apache-2.0
// From what a model needs and a person wishes to a device and a plan: the walk that train, run and
// evaluate share.
#pragma once

#include "ubique/device/select.h"
#include "ubique/plan/plan.h"

namespace ubique::engine {

struct Session {
  device::Selection device;
  plan::Plan plan;
};

/// The device alone, for who must know it before there is a model; the wishes then name it where a
/// fallback took place. open_session may follow.
device::Selection open_device(plan::Wishes& wishes, bool fallback);

/// Selects the device, takes its cached verdicts (or probes what this model needs: the first use of
/// a device is the moment to find out), and plans. Errors as select and make_plan have them.
Session open_session(const plan::Needs& needs, plan::Wishes wishes, bool fallback);

/// Sets torch up as the plan says (threads, TF32, determinism, autotuning), for this process.
void apply(const plan::Plan& plan);

}  // namespace ubique::engine
