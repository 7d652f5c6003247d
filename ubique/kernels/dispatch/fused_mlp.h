// SPDX-License-Identifier: Apache-2.0
// Large parts of gated sub-layers for which a device may bring kernels of its own; see fused.h.
// Without autograd. Weights are arranged for the kernels once.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>

namespace ubique::kernels::fused {

/// For weights (2I, L) and so many channels?
bool does_token_mix(const at::Tensor& gate_up, std::int64_t width);
at::Tensor pack_token_mix(const at::Tensor& gate_up, const at::Tensor& down, bool backward);

/// rms_norm(x + down(swiglu(gate_up x))) of x (B, L, H) along L, and the inverse roots (B, H), f32.
std::tuple<at::Tensor, at::Tensor> token_mix(const at::Tensor& x, const at::Tensor& packed,
                                             double epsilon);
/// From the gradient of the normed sum: of x (B, L, H), of gates and values (B, 2I, H); and the
/// gated values (B, I, H) again.
std::tuple<at::Tensor, at::Tensor, at::Tensor> token_mix_backward(const at::Tensor& of_sum,
                                                                  const at::Tensor& x,
                                                                  const at::Tensor& packed);

/// For weights (2I, K)?
bool does_channel_gate(const at::Tensor& gate_up);
/// Of gate_up; for the way back, of down (K, I).
at::Tensor pack_channel_gate(const at::Tensor& weight, bool backward);
/// swiglu(x gate_up^T) of x (M, K): (M, I); with `keep` also what was gated, (M, 2, I).
std::tuple<at::Tensor, at::Tensor> channel_gate(const at::Tensor& x, const at::Tensor& packed,
                                                bool keep);
/// From the gradient of what the gated values are narrowed to (M, K) and what was gated (M, 2, I):
/// the latter's gradient, and the gated values (M, I) again.
std::tuple<at::Tensor, at::Tensor> channel_gate_backward(const at::Tensor& of_sum,
                                                         const at::Tensor& packed,
                                                         const at::Tensor& wide);

}  // namespace ubique::kernels::fused
