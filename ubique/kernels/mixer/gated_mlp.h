// SPDX-License-Identifier: Apache-2.0
// The sub-layers of a post-norm block, each rms_norm(x + f(x)) as one op with its own backward: it
// saves its input, its result and little else, and recomputes the rest. Any device; x is (B, L, H),
// and the caller casts the weights once.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "ubique/kernels/dispatch/cast_weight.h"

namespace ubique::kernels {

constexpr double kNormEpsilon = 1e-5;

/// Weights of a SwiGLU MLP without biases.
struct GatedWeights {
  CastWeight gate_up;              ///< (2I, D): gates first
  CastWeight down;                 ///< (D, I)
  at::Tensor packed, packed_back;  ///< in the layout of the device's fused kernel, if any
};

/// Packs the weights of token_mlp_block for samples of `width` channels, if the device has a fused
/// kernel for the sub-layer; for backward too if gradients are being recorded.
void pack_for_token_mlp(GatedWeights& weights, std::int64_t width);
/// The same for swiglu_block.
void pack_for_swiglu(GatedWeights& weights);

/// Whether training keeps the pre-activations (2I for each D) or recomputes them in backward.
enum class Activations { Keep, Recompute };

/// f32 weights for plain ops: never packed for a fused kernel.
GatedWeights plain_weights(const at::Tensor& gate_up, const at::Tensor& down);

/// rms_norm(x + MLP(x)) with the MLP along the channels of each token: D = H, normed along H.
at::Tensor swiglu_block(const at::Tensor& x, const GatedWeights& weights, Activations activations);

/// The same along the tokens of each channel: D = L, normed along L. Transposes nothing.
at::Tensor token_mlp_block(const at::Tensor& x, const GatedWeights& weights,
                           Activations activations);

/// rms_norm(x + branch) along H: the end of an attention sub-layer.
at::Tensor post_norm(const at::Tensor& x, const at::Tensor& branch);

}  // namespace ubique::kernels
