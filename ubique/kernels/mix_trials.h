// SPDX-License-Identifier: Apache-2.0
// Whether a device's own kernels for mixing give what plain ops give; see trust.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ubique::kernels {

/// For weights like these, (2I, K); `learns`: gradients too.
bool trusts_channel_gate(const at::Tensor& gate_up, bool learns);
/// For weights like these, (2I, L), and so many channels.
bool trusts_token_mix(const at::Tensor& gate_up, std::int64_t width, bool learns);

}  // namespace ubique::kernels
