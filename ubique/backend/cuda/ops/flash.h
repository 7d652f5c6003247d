// SPDX-License-Identifier: Apache-2.0
// Forward attention of long sequences on Hopper.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ubique::backend::cuda {

/// `qkv` starts at a dense (B, L, 3, heads, 64) in bf16 with rotated queries and keys; its second
/// axis is L. Writes attention to `mixed` (B, L, heads·64) and, if defined, the log-sum-exp to
/// `logs` (B, heads, L).
void flash(const at::Tensor& qkv, std::int64_t heads, bool causal, at::Tensor& mixed,
           const at::Tensor& logs);

}  // namespace ubique::backend::cuda
