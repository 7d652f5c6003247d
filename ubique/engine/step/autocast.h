// SPDX-License-Identifier: Apache-2.0
// Mixed precision for a scope: matmuls and convolutions of one device type compute in a smaller
// dtype. A disabled scope inside an enabled one computes in full precision.
#pragma once

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include "ubique/plan/plan.h"

namespace ubique::engine {

struct AutocastState {
  bool enabled = false;
  c10::ScalarType dtype = c10::ScalarType::Float;
  bool cache = true;  ///< keeps casts of weights until the outermost scope ends
};

/// The current state of this thread.
AutocastState autocast_state(c10::DeviceType type);
/// The state that a plan asks for.
AutocastState autocast_of(const plan::Plan& plan);

class Autocast {
 public:
  Autocast(c10::DeviceType type, const AutocastState& state);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  c10::DeviceType type_;
  AutocastState before_;
};

}  // namespace ubique::engine
