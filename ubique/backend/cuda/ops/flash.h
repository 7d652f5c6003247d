// SPDX-License-Identifier: Apache-2.0
// Attention of long sequences on Hopper.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ubique::backend::cuda {

/// `qkv` is the beginning of (B, L, 3, heads, 64), bf16, dense, whose queries and keys are turned;
/// its second axis is L. Into `mixed` (B, L, heads·64), and where `logs` (B, heads, L) is defined,
/// the logarithms of the sums of exponentials there.
void flash(const at::Tensor& qkv, std::int64_t heads, bool causal, at::Tensor& mixed,
           const at::Tensor& logs);

}  // namespace ubique::backend::cuda
