// SPDX-License-Identifier: Apache-2.0
// The frozen linear layers of a network in 8 or 4 bits (QLoRA, inference in little memory).
#pragma once

#include <c10/core/Device.h>

#include "ubique/kernels/quant/quantized_weight.h"
#include "ubique/nn/layers/network.h"

namespace ubique::nn {

/// Quantises every linear layer whose shape the format takes and frees its own weight; NF4 is
/// double quantised. Returns how many numbers are kept in fewer bits.
std::int64_t quantize_layers(Network& network, kernels::QuantFormat format);
/// Quantised weights are no parameters: Network::to() leaves them where they are.
void move_quantized_layers(Network& network, c10::Device device);
/// Stored bytes of all quantised weights; 0 if there are none.
std::int64_t quantized_bytes(const Network& network);

}  // namespace ubique::nn
