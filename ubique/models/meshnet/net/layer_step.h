// SPDX-License-Identifier: Apache-2.0
// The network's forward pass in train mode: prepares parameters for a Chain (dtype, layout,
// padding), records the chain as one autograd node, updates the running statistics once.
#pragma once

#include <ATen/core/Tensor.h>

namespace ubique::meshnet {

class MeshNet;

at::Tensor training_forward(MeshNet& network, const at::Tensor& image);

}  // namespace ubique::meshnet
