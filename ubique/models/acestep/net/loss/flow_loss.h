// SPDX-License-Identifier: Apache-2.0
// The training loss of the transformer: how well the clean latents are recovered from noisy ones.
#pragma once

#include <ATen/core/Tensor.h>

namespace ubique::acestep {

/// sigma·noise + (1 - sigma)·clean; latents (B, C, 16, T), sigmas (B).
at::Tensor noisy_latents(const at::Tensor& clean, const at::Tensor& noise,
                         const at::Tensor& sigmas);

/// Mean squared error of noisy - sigma·velocity against the clean latents. Frames of padding (0 in
/// `frames`, (B, T); undefined = none) count as right, and an item weighs as much as the share of
/// its frames: the original's weighting.
at::Tensor flow_loss(const at::Tensor& velocity, const at::Tensor& noisy, const at::Tensor& clean,
                     const at::Tensor& sigmas, const at::Tensor& frames);
/// The same error of each item over its own frames: (B). Without padding their mean is flow_loss().
at::Tensor flow_loss_by_item(const at::Tensor& velocity, const at::Tensor& noisy,
                             const at::Tensor& clean, const at::Tensor& sigmas,
                             const at::Tensor& frames);

}  // namespace ubique::acestep
