// SPDX-License-Identifier: Apache-2.0
// How many tensors of one layer's size a training step through a chain holds at its worst moment:
// layer_chain.cpp's life of tensors, counted without computing. No torch.
#pragma once

#include <cstdint>

namespace ubique::meshnet {

/// Does the chain keep this layer's output, with its `layers` cut into `segments`? The first
/// segment starts from the image, which is always there; 0 segments keep everything.
bool chain_keeps(std::int64_t layer, std::int64_t layers, std::int64_t segments);

std::int64_t chain_peak(std::int64_t layers, std::int64_t segments);

}  // namespace ubique::meshnet
