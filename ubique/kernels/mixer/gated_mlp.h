// SPDX-License-Identifier: Apache-2.0
// The sub-layers of a post-normed block, each rms_norm(x + f(x)) as one op with a backward of its
// own: it keeps its input, its result and little else, and works the rest out again. Any device;
// x is (B, L, H), weights are cast once by the caller.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "ubique/kernels/dispatch/cast_weight.h"

namespace ubique::kernels {

constexpr double kNormEpsilon = 1e-5;

/// A SwiGLU network without biases.
struct GatedWeights {
  CastWeight gate_up;              ///< (2I, D): gates first
  CastWeight down;                 ///< (D, I)
  at::Tensor packed, packed_back;  ///< arranged for a device's own kernel, if there is one
};

/// Arranges the weights of token_mix for samples of so many channels, where the device has a kernel
/// of its own for the whole sub-layer; for backward too if gradients are recorded now.
void pack_for_token_mix(GatedWeights& weights, std::int64_t width);
/// The same for channel_mix.
void pack_for_channel_mix(GatedWeights& weights);

/// What a training step keeps of a gated layer's widest values (2I of them for D): all, or nothing,
/// computing them again.
enum class Kept { Wide, Narrow };

/// For plain ops in f32, whatever the device has.
GatedWeights plain_weights(const at::Tensor& gate_up, const at::Tensor& down);

/// Mixes the values of every token; D = H, normed along H.
at::Tensor channel_mix(const at::Tensor& x, const GatedWeights& weights, Kept kept);

/// Mixes the tokens of every channel; D = L, normed along L. No tensor is transposed.
at::Tensor token_mix(const at::Tensor& x, const GatedWeights& weights, Kept kept);

/// rms_norm(x + branch) along H: what is left of an attention layer once its branch is there.
at::Tensor post_norm(const at::Tensor& x, const at::Tensor& branch);

}  // namespace ubique::kernels
