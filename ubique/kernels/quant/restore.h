// SPDX-License-Identifier: Apache-2.0
// A device's own kernel that restores a quantised weight in one pass.
#pragma once

#include "ubique/kernels/quant/quantized_weight.h"

namespace ubique::kernels {

/// (out, in), or an undefined tensor if the weight's device has no kernel for it.
at::Tensor restore_on_device(const QuantizedWeight& weight, at::ScalarType dtype);
/// By plain ops: what dequantize() does without a kernel.
at::Tensor restore_by_ops(const QuantizedWeight& weight, at::ScalarType dtype);

}  // namespace ubique::kernels
