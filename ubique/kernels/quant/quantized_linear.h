// SPDX-License-Identifier: Apache-2.0
// x·Wᵀ + b with a quantised W. Gradients flow to x and b, never to the weight: it is frozen, as in
// QLoRA.
#pragma once

#include <ATen/core/Tensor.h>

#include "ubique/kernels/quant/quantized_weight.h"

namespace ubique::kernels {

/// For x (..., in): (..., out) in x's dtype; `bias` (out) may be undefined. Restores the weight for
/// the product, and once more in the backward pass instead of keeping it. Up to 16 rows of x on a
/// CPU, without gradients, are multiplied with the packed weight directly; Int8 and Int4 then round
/// x to 8 bits in groups of 32, as llama.cpp does.
at::Tensor quantized_linear(const at::Tensor& x, const QuantizedWeight& weight,
                            const at::Tensor& bias = {});

/// The dtype that the other tensors of a network with quantised weights should have on a device
/// where `planned` was chosen for plain ones: f32 where the packed weights are read directly, which
/// computes in f32 anyway.
at::ScalarType quantized_dtype(c10::Device device, at::ScalarType planned);

/// quantized_linear() always by restoring the weight.
at::Tensor quantized_linear_reference(const at::Tensor& x, const QuantizedWeight& weight,
                                      const at::Tensor& bias = {});

}  // namespace ubique::kernels
