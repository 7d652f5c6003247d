// SPDX-License-Identifier: Apache-2.0
// Attention of a TRM's block: one bias-free product for queries, keys and values, rotated places,
// torch's scaled dot products.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

#include "ubique/kernels/cast_weight.h"

namespace ubique::trm {

struct AttentionForm {
  std::int64_t heads = 1;
  bool causal = false;
  at::Tensor cos, sin;  ///< (L, head size), f32; undefined = nothing is rotated
};

/// Cosines and sines of places 0..L-1, halves alike: (L, head size), f32.
std::tuple<at::Tensor, at::Tensor> rope_tables(std::int64_t length, std::int64_t head_size,
                                               c10::Device device);

/// rms_norm(x + attention(x)) of x (B, L, H); weights (3H, H) and (H, H).
at::Tensor attention_mix(const at::Tensor& x, const kernels::CastWeight& qkv,
                         const kernels::CastWeight& out, const AttentionForm& form);

/// Keys and values of a text that grows at its end: (1, heads, room, head size).
struct AttentionMemory {
  at::Tensor keys, values;
};

/// attention(x) of places first..first+n-1 alone, x (1, n, H), as causal attention over the whole
/// text has it: the places before are in `memory`, which takes these in as well.
at::Tensor attention_onward(const at::Tensor& x, const kernels::CastWeight& qkv,
                            const kernels::CastWeight& out, const AttentionForm& form,
                            AttentionMemory& memory, std::int64_t first);

}  // namespace ubique::trm
