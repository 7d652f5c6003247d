// SPDX-License-Identifier: Apache-2.0
// Pictures at twice the size, bilinear, in both of TensorFlow's ways. Rows, columns and their
// gradients are written in place: nothing as large as the result is made beside it, and the
// gradient is a sum in a fixed order on every device.
#pragma once

#include <ATen/core/Tensor.h>

#include "ubique/models/msinet/net/config.h"

namespace ubique::msinet {

/// x (B, C, H, W) of any float type and memory format, which (B, C, 2H, 2W) keeps.
at::Tensor upsample_twice(const at::Tensor& x, Upsample mode);

/// The gradient (B, C, H, W) for one of the result (B, C, 2H, 2W).
at::Tensor upsample_twice_backward(const at::Tensor& gradient, Upsample mode);

}  // namespace ubique::msinet
