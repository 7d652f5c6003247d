// SPDX-License-Identifier: Apache-2.0
// A convolution of one row as one matrix product over copies of its input.
#pragma once

#include "ubique/nn/layers/network.h"

namespace ubique::acestep {

/// Whether to compute it so: cuDNN takes 190 ms for a convolution of 512 channels with 13 taps over
/// 20,640 positions in f16 (H200), which as a product takes one.
bool prefers_product(const at::Tensor& weight);

/// The convolution that keeps the length, of x (B, C, 1, L) with weight (out, C, taps): (B, out, 1,
/// L), channels side by side. Takes the memory of `taps` copies of x.
at::Tensor conv_product(const at::Tensor& x, const nn::WeightAndBias& weights,
                        std::int64_t dilation);

}  // namespace ubique::acestep
