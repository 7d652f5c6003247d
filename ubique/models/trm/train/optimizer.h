// SPDX-License-Identifier: Apache-2.0
// TRM's optimizer: one of the engine's for the network, and sparse SignSGD with weight decay for
// the puzzle table, of which an update touches only the looked-up rows.
#pragma once

#include <memory>

#include "ubique/engine/optim/optimizer.h"
#include "ubique/models/trm/net/model.h"

namespace ubique::trm {

struct TableOptions {
  double lr = 1e-2;  ///< where the network has its full rate; follows the same schedule
  double weight_decay = 0.1;
};

/// `options` are for the network. If the network has no trainable parameter, only the table is
/// trained. Usage error if there is no table either.
std::unique_ptr<engine::Optimizer> make_trm_optimizer(TrmModel& model,
                                                      const engine::OptimizerOptions& options,
                                                      const TableOptions& table);

/// row = row · (1 - lr · decay) - lr · sign(sum of its gradients) for the rows in `ids` (B); the
/// others are unchanged. Gradients are (B, ndim); `lr` and `bad` are f32 device scalars, and
/// nothing changes if `bad` is 1. No host synchronisation.
void sign_step(at::Tensor table, const at::Tensor& ids, const at::Tensor& gradients,
               const at::Tensor& lr, double decay, const at::Tensor& bad);

}  // namespace ubique::trm
