// SPDX-License-Identifier: Apache-2.0
// Pixels to the network's input. The means are the network's own business: whoever calls it gives
// pictures as they are.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/MemoryFormat.h>

#include "ubique/models/msinet/net/config.h"

namespace ubique::msinet {

/// image (B, 3, H, W), RGB, 0 to 255, u8 or any float; without its means in `dtype` and that memory
/// format. Nothing is copied from the host, so that a device may capture it.
at::Tensor subtract_means(const at::Tensor& image, const Preprocessing& how, at::ScalarType dtype,
                          at::MemoryFormat format);

}  // namespace ubique::msinet
