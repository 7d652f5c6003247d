// SPDX-License-Identifier: Apache-2.0
// Self-checks (see self_check.h) of the fused kernels behind gated_mlp.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ubique::kernels {

/// `gate_up` (2I, K).
bool channel_gate_passes_self_check(const at::Tensor& gate_up);
/// `down` (K, I).
bool channel_gate_backward_passes_self_check(const at::Tensor& down);
/// `gate_up` (2I, L), for samples of `width` channels; `learns`: checks the gradients too.
bool token_mlp_passes_self_check(const at::Tensor& gate_up, std::int64_t width, bool learns);

}  // namespace ubique::kernels
