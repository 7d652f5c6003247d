// SPDX-License-Identifier: Apache-2.0
// Causal attention of documents that lie one after the other in a batch, without a mask: for
// devices whose flash kernels take sequences of different lengths.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ubique::kernels {

/// True if the device of `queries` (B, heads, T, size) has it for their dtype and size.
bool does_packed_attention(const at::Tensor& queries);

/// softmax(q·kᵀ/√size)·v of q (B, heads, T, size) and k, v (B, kv heads, T, size): (B, heads, T,
/// size). `starts` (n + 1) i32 are the documents' first tokens among all B·T, ascending, then B·T
/// (repeated as filling); undefined: each row is one document, for which devices have faster
/// kernels. A position attends to itself and the earlier ones of its document, the last `window`
/// only (0: all). Only after does_packed_attention().
at::Tensor packed_attention(const at::Tensor& queries, const at::Tensor& keys,
                            const at::Tensor& values, const at::Tensor& starts,
                            std::int64_t window);

}  // namespace ubique::kernels
