// SPDX-License-Identifier: Apache-2.0
// CPU convolutions with weights prepacked in oneDNN's blocked layout, with bias and ReLU. Otherwise
// every call reorders the weights (an eighth of the time for a network of 25 million weights and
// one small image).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ubique::kernels {

/// True if this build has oneDNN and it computes in the weight's dtype on this CPU.
bool packs_on_host(const at::Tensor& weight);

/// Packs for images of the shape of x.
at::Tensor pack_weights(const at::Tensor& weight, std::int64_t dilation, const at::Tensor& x);

at::Tensor convolve_packed(const at::Tensor& x, const at::Tensor& packed, const at::Tensor& bias,
                           std::int64_t padding, std::int64_t dilation, bool relu);

}  // namespace ubique::kernels
