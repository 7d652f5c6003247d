// SPDX-License-Identifier: Apache-2.0
// norm_act and its backward with the statistics of all ranks of a round: what one process computes
// for all their samples together, within rounding.
#pragma once

#include "ubique/engine/ranks/pass_sums.h"
#include "ubique/kernels/conv/norm_act.h"

namespace ubique::meshnet {

/// As kernels::norm_act for a batch norm; `values` becomes the number of voxels of all ranks.
at::Tensor sync_norm_act(const at::Tensor& x, const kernels::NormAct& how,
                         kernels::NormStatistics& statistics, engine::PassSums& sums,
                         std::int64_t& values);

/// As kernels::norm_act_backward. The gradients of weight and bias are this rank's part.
kernels::NormActGradients sync_norm_act_backward(at::Tensor gradient, at::Tensor result,
                                                 const at::Tensor& x, const kernels::NormAct& how,
                                                 const kernels::NormStatistics& statistics,
                                                 engine::PassSums& sums, std::int64_t values);

}  // namespace ubique::meshnet
