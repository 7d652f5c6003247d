// SPDX-License-Identifier: Apache-2.0
// The middle of a gated feed-forward layer with a convolution over time, between its two products:
// SiLU, three taps per channel, one half times the SiLU of the other.
#pragma once

#include <ATen/core/Tensor.h>

namespace ubique::kernels {

/// True if the device has a kernel that does it in one pass over memory.
bool does_gated_conv(const at::Tensor& x, const at::Tensor& weight);

/// x (B, T, 2N), weight (2N, 1, 3) and bias (2N) to (B, T, N), zeros before and after time; in
/// plain ops where there is no kernel, which overwrite x. No autograd through the kernel: with
/// gradients use plain_gated_conv().
at::Tensor gated_conv(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

/// The same in plain ops; without gradients x is overwritten. `frames` (B, T): those that are 0 are
/// read as zeros; undefined = none.
at::Tensor plain_gated_conv(at::Tensor x, const at::Tensor& weight, const at::Tensor& bias,
                            const at::Tensor& frames = {});

/// The same in sums of shifted frames, for gradients where plain convolutions of single channels
/// have slow ones.
at::Tensor shifted_gated_conv(const at::Tensor& x, const at::Tensor& weight,
                              const at::Tensor& bias);

}  // namespace ubique::kernels
