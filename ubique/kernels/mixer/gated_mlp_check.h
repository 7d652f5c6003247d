// SPDX-License-Identifier: Apache-2.0
// Whether a device's own kernels for mixing give what plain ops give; see trust.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ubique::kernels {

/// For weights like these, (2I, K).
bool trusts_channel_gate(const at::Tensor& gate_up);
/// For weights like these, (K, I).
bool trusts_channel_gate_backward(const at::Tensor& down);
/// For weights like these, (2I, L), and so many channels; `learns`: gradients too.
bool trusts_token_mix(const at::Tensor& gate_up, std::int64_t width, bool learns);

}  // namespace ubique::kernels
