// SPDX-License-Identifier: Apache-2.0
#include "ubique/models/trm/model.h"

#include <ATen/ATen.h>

namespace ubique::trm {

void TrmModel::adopt(const plan::Plan& plan) {
  const auto channels = plan.checkpointing.value ? kernels::Kept::Narrow : kernels::Kept::Wide;
  network_->keep(kernels::Kept::Narrow, channels);
}

engine::Step TrmModel::step(const engine::Batch& /*batch*/) {
  fail(ErrorKind::Internal, "[trm.step] not here yet.");
}

}  // namespace ubique::trm
