// SPDX-License-Identifier: Apache-2.0
// The axes in which networks see a head. Most learn in RAS; BrainChop shows all of them LIA. A
// convolution's kernels can be turned instead of the head, which changes no number.
#pragma once

#include <ATen/core/Tensor.h>

#include "ubique/models/meshnet/net/weights.h"

namespace ubique::meshnet {

/// The last three axes from (R, A, S) to (L, I, A); for volumes and kernels alike. Exact.
at::Tensor to_browser_axes(const at::Tensor& tensor);
at::Tensor from_browser_axes(const at::Tensor& tensor);  ///< and back

/// Did the network learn in BrainChop's axes?
bool learned_in_browser_axes(const MeshNetConfig& config);

/// All kernels turned, so that a head in (L, I, A) gives what it gave in (R, A, S).
MeshNetFile turn_kernels(const MeshNetFile& file, at::Tensor (*turn)(const at::Tensor&));

}  // namespace ubique::meshnet
