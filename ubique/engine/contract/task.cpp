// SPDX-License-Identifier: Apache-2.0
#include "ubique/engine/contract/task.h"

#include "ubique/engine/optim/optimizer.h"

namespace ubique::engine {

std::unique_ptr<Optimizer> Task::make_optimizer(const OptimizerOptions& /*options*/) {
  return nullptr;
}

}  // namespace ubique::engine
