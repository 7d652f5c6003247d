// SPDX-License-Identifier: Apache-2.0
// Where a sub-layer leaves the stream that it is added to again: x goes two ways, into a product
// and on to the sum. Two gradients come back; here the product's is added to the other one as it is
// made, which spares a pass over memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

#include "ubique/kernels/dispatch/cast_weight.h"

namespace ubique::kernels {

/// x weight^T, and x for the sum; x is (B, L, H).
std::tuple<at::Tensor, at::Tensor> branch_off(const at::Tensor& x, const CastWeight& weight);

}  // namespace ubique::kernels
