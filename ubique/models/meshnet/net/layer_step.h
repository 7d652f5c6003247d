// SPDX-License-Identifier: Apache-2.0
// The network's forward pass in train mode: parameters prepared for a chain (dtype, layout,
// padding), the chain tied into autograd as one node, running statistics moved once.
#pragma once

#include <ATen/core/Tensor.h>

namespace ubique::meshnet {

class MeshNet;

at::Tensor training_forward(MeshNet& network, const at::Tensor& image);

}  // namespace ubique::meshnet
