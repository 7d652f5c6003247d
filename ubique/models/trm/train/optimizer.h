// SPDX-License-Identifier: Apache-2.0
// How a TRM learns: an optimizer of the engine's for the network, and for the table of puzzles, of
// whose many rows an update touches few, a step of fixed size against the gradient's sign.
#pragma once

#include <memory>

#include "ubique/engine/optim/optimizer.h"
#include "ubique/models/trm/net/model.h"

namespace ubique::trm {

struct TableOptions {
  double lr = 1e-2;  ///< at the network's full rate; follows the same schedule
  double weight_decay = 0.1;
};

/// `options` name the network's optimizer. Where the network has no trainable parameter, the table
/// learns alone. Usage error if neither can.
std::unique_ptr<engine::Optimizer> make_trm_optimizer(TrmModel& model,
                                                      const engine::OptimizerOptions& options,
                                                      const TableOptions& table);

/// row = row * (1 - lr * decay) - lr * sign(sum of its gradients), for rows that `ids` (B) name;
/// all others stay as they are. Gradients are (B, ndim); `lr` and `bad` are f32 device scalars,
/// nothing happens where `bad` is 1. Waits for nothing.
void sign_step(at::Tensor table, const at::Tensor& ids, const at::Tensor& gradients,
               const at::Tensor& lr, double decay, const at::Tensor& bad);

}  // namespace ubique::trm
