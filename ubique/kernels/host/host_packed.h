// SPDX-License-Identifier: Apache-2.0
// Convolutions on the CPU with weights in the blocked form that oneDNN computes with, bias and ReLU
// included: without it every call arranges the weights anew (an eighth of the time for a network of
// 25 million weights and one small picture).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ubique::kernels {

/// Has this build oneDNN, and does it compute in that type on this CPU?
bool packs_on_host(const at::Tensor& weight);

/// For pictures of the size of x.
at::Tensor pack_weights(const at::Tensor& weight, std::int64_t dilation, const at::Tensor& x);

at::Tensor convolve_packed(const at::Tensor& x, const at::Tensor& packed, const at::Tensor& bias,
                           std::int64_t padding, std::int64_t dilation, bool relu);

}  // namespace ubique::kernels
