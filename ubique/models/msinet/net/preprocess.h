// SPDX-License-Identifier: Apache-2.0
// Pixels to the network's input. The network subtracts the means itself; callers pass plain
// pictures.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/MemoryFormat.h>

#include "ubique/models/msinet/net/config.h"

namespace ubique::msinet {

/// image (B, 3, H, W), RGB, 0 to 255, u8 or any float, minus the means, in `dtype` and `format`.
/// Copies nothing from the host, so that it can be part of a captured graph.
at::Tensor subtract_means(const at::Tensor& image, const Preprocessing& how, at::ScalarType dtype,
                          at::MemoryFormat format);

}  // namespace ubique::msinet
