// SPDX-License-Identifier: Apache-2.0
// Learning rate (and momentum) of every update, computed on the host. Skipped updates count as
// steps too.
#pragma once

#include <cstdint>
#include <memory>

#include "ubique/base/text/json.h"
#include "ubique/engine/contract/recipe.h"
#include "ubique/engine/optim/optimizer.h"

namespace ubique::engine {

class Schedule {
 public:
  virtual ~Schedule() = default;
  virtual Rates at(std::int64_t step) const = 0;
  /// The watched score, after each validation.
  virtual void observe(double /*score*/) {}
  /// Its state besides the step; null = none.
  virtual Json state() const { return nullptr; }
  virtual void load(const Json& /*state*/) {}
};

/// `steps`: the updates of the whole run. Usage error with a "did you mean" for an unknown name.
std::unique_ptr<Schedule> make_schedule(const Recipe& recipe, std::int64_t steps);

}  // namespace ubique::engine
