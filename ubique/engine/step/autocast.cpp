// SPDX-License-Identifier: Apache-2.0
// Sets and restores torch's autocast state.
#include "ubique/engine/step/autocast.h"

#include <ATen/autocast_mode.h>

#include "ubique/probe/probes/operation.h"

namespace ubique::engine {
namespace {

void set_autocast(c10::DeviceType type, const AutocastState& state) {
  at::autocast::set_autocast_enabled(type, state.enabled);
  at::autocast::set_autocast_dtype(type, state.dtype);
  at::autocast::set_autocast_cache_enabled(state.cache);
}

}  // namespace

AutocastState autocast_state(c10::DeviceType type) {
  return {at::autocast::is_autocast_enabled(type), at::autocast::get_autocast_dtype(type),
          at::autocast::is_autocast_cache_enabled()};
}

AutocastState autocast_of(const plan::Plan& plan) {
  if (!plan.autocast.value) return {};
  return {true, probe::to_torch(plan.dtype.value), true};
}

Autocast::Autocast(c10::DeviceType type, const AutocastState& state)
    : type_(type), before_(autocast_state(type)) {
  at::autocast::increment_nesting();
  AutocastState wanted = state;
  if (!state.enabled) wanted.dtype = before_.dtype;  // not used, and torch never warns about it
  set_autocast(type, wanted);
}

Autocast::~Autocast() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  set_autocast(type_, before_);
}

}  // namespace ubique::engine
