// SPDX-License-Identifier: Apache-2.0
// Ops of gated and normalised layers for which a device may provide fused kernels, registered with
// LibTorch's dispatcher. swiglu and post_norm fall back to plain ATen ops here; the larger ops have
// a query, and their callers fall back (as in fused_conv.h). No autograd.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>

namespace ubique::kernels::fused {

/// silu(gate) · up of x (R, 2, N), which holds the gates, then the up values.
at::Tensor swiglu(const at::Tensor& x);  // (R, N)
/// Gradient of x (R, 2, N), and the recomputed forward result (R, N).
std::tuple<at::Tensor, at::Tensor> swiglu_backward(const at::Tensor& gradient, const at::Tensor& x);

/// RMS norm of u = x + branch (A, B, C) along `dim` (1 or 2), computed in f32 (f64 for f64); and
/// the inverse RMS, f32, (A, B) or (A, C).
std::tuple<at::Tensor, at::Tensor> post_norm(const at::Tensor& x, const at::Tensor& branch,
                                             std::int64_t dim, double epsilon);
/// Gradient of u; `y` and `inverse` are post_norm's results.
at::Tensor post_norm_backward(const at::Tensor& gradient, const at::Tensor& y,
                              const at::Tensor& inverse, std::int64_t dim);

/// `gate_up` (2I, L); samples have `width` channels.
bool does_token_mix(const at::Tensor& gate_up, std::int64_t width);
at::Tensor pack_token_mix(const at::Tensor& gate_up, const at::Tensor& down, bool backward);

/// rms_norm(x + down·swiglu(gate_up·x)) of x (B, L, H) along L, and the inverse RMS (B, H), f32.
std::tuple<at::Tensor, at::Tensor> token_mix(const at::Tensor& x, const at::Tensor& packed,
                                             double epsilon);
/// Given d(sum before the norm) (B, L, H): returns d(x) (B, L, H), d(pre-activation) (B, 2I, H) and
/// the recomputed swiglu output (B, I, H).
std::tuple<at::Tensor, at::Tensor, at::Tensor> token_mix_backward(const at::Tensor& of_sum,
                                                                  const at::Tensor& x,
                                                                  const at::Tensor& packed);

/// `gate_up` (2I, K).
bool does_channel_gate(const at::Tensor& gate_up);
/// `weight` is gate_up (2I, K), or down (K, I) for backward.
at::Tensor pack_channel_gate(const at::Tensor& weight, bool backward);
/// swiglu(x·gate_upᵀ) (M, I) of x (M, K); with `keep` also the pre-activation (M, 2, I).
std::tuple<at::Tensor, at::Tensor> channel_gate(const at::Tensor& x, const at::Tensor& packed,
                                                bool keep);
/// Given d(output) (M, K) and the pre-activation (M, 2, I): returns d(pre-activation) and the
/// recomputed swiglu output (M, I).
std::tuple<at::Tensor, at::Tensor> channel_gate_backward(const at::Tensor& of_sum,
                                                         const at::Tensor& packed,
                                                         const at::Tensor& wide);

}  // namespace ubique::kernels::fused
