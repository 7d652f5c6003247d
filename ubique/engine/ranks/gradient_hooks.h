// SPDX-License-Identifier: Apache-2.0
// Tells during a backward pass which parameter's gradient was just added to.
#pragma once

#include <functional>

#include "ubique/engine/contract/batch.h"

namespace ubique::engine {

class GradientHooks {
 public:
  /// Calls `accumulated` with the parameter's index, by the thread of the backward pass. A weight
  /// of several recomputed segments is told of once for each.
  GradientHooks(NamedTensors parameters, const std::function<void(std::size_t)>& accumulated);
  ~GradientHooks();
  GradientHooks(const GradientHooks&) = delete;
  GradientHooks& operator=(const GradientHooks&) = delete;

 private:
  NamedTensors parameters_;
};

}  // namespace ubique::engine
