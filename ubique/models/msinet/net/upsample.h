// SPDX-License-Identifier: Apache-2.0
// Bilinear upsampling by 2 in both of TensorFlow's conventions. The output is written in place,
// without a temporary of its size, and the gradient sums in a fixed order on every device.
#pragma once

#include <ATen/core/Tensor.h>

#include "ubique/models/msinet/net/config.h"

namespace ubique::msinet {

/// x (B, C, H, W) to (B, C, 2H, 2W), keeping float type and memory format.
at::Tensor upsample_twice(const at::Tensor& x, Upsample mode);

/// From the gradient of the output (B, C, 2H, 2W) to that of the input (B, C, H, W).
at::Tensor upsample_twice_backward(const at::Tensor& gradient, Upsample mode);

}  // namespace ubique::msinet
