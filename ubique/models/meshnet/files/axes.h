// SPDX-License-Identifier: Apache-2.0
// Axis orders of network inputs. Networks are mostly trained on RAS volumes; BrainChop passes LIA.
// Permuting and flipping the kernels instead of the volume gives the same numbers.
#pragma once

#include <ATen/core/Tensor.h>

#include "ubique/models/meshnet/net/weights.h"

namespace ubique::meshnet {

/// Reorders the last three axes of a volume or kernel from (R, A, S) to (L, I, A). Exact.
at::Tensor to_browser_axes(const at::Tensor& tensor);
at::Tensor from_browser_axes(const at::Tensor& tensor);  ///< the inverse

/// True if the network was trained in BrainChop's axes.
bool trained_in_browser_axes(const MeshNetConfig& config);

/// Applies `turn`, one of the two functions above, to all kernels: the network then takes volumes
/// in the other axis order.
MeshNetFile turn_kernels(const MeshNetFile& file, at::Tensor (*turn)(const at::Tensor&));

}  // namespace ubique::meshnet
