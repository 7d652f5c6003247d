// SPDX-License-Identifier: Apache-2.0
// A whole token-mixing sub-layer for which a device may bring a kernel of its own; see fused.h.
// Without autograd. Weights are arranged for the kernel once, by the first op.
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

}  // namespace ubique::kernels::fused
