// SPDX-License-Identifier: Apache-2.0
// One block of the diffusion transformer: linear attention over the frames, softmax attention to
// the context, and a gated feed-forward layer with a convolution over time.
#pragma once

#include "ubique/models/acestep/net/config/config.h"
#include "ubique/nn/layers/network.h"

namespace ubique::acestep {

struct DitAttention {
  nn::LinearWeights q, k, v, output;
};

struct DitBlock {
  at::Tensor modulation;  ///< (6, D): shift, scale, gate of attention; the same of feed-forward
  DitAttention self, cross;
  nn::LinearWeights expand, contract;  ///< to two halves and back
  nn::WeightAndBias depthwise;         ///< a convolution of 3 frames per channel between them
};

void walk_block(nn::ParameterWalk& walk, const std::string& name, const DitConfig& config,
                DitBlock& block);

/// Keys and values of the context in one block, which do not depend on the noisy latents:
/// (B, heads, E, size).
struct ContextKeys {
  at::Tensor keys, values;
};

/// What all blocks of one pass share.
struct DitPass {
  const DitConfig& config;
  at::Tensor time = {};           ///< (B, 6, D), or (1, 6, D) for all items
  at::Tensor cos = {}, sin = {};  ///< (T, head size)
  at::Tensor frames = {};         ///< (B, T) 1 = a frame, 0 = padding; undefined = no padding
  /// (B, 1, 1, E): bool, true = read, or what is added to scores; undefined = all are read.
  at::Tensor context_mask = {};
  bool training = false;
  bool exact_padding = false;  ///< convolutions do not read padding
};

/// x (B, T, D) to (B, T, D): relu(q)·(relu(k)ᵀv) over its sum, positions rotated; in f32.
at::Tensor linear_attention(const DitAttention& weights, const at::Tensor& x, const DitPass& pass);
/// The keys (rotated) and values of a context (B, E, D); cos and sin (E, head size).
ContextKeys context_keys(const DitAttention& weights, const at::Tensor& context,
                         const at::Tensor& cos, const at::Tensor& sin, const DitConfig& config,
                         bool training);
/// x (B, T, D) to (B, T, D). `query_scale` (B) multiplies each item's queries; undefined = 1.
at::Tensor cross_attention(const DitAttention& weights, const at::Tensor& x,
                           const ContextKeys& context, const DitPass& pass,
                           const at::Tensor& query_scale = {});
/// x (B, T, D) to (B, T, D): expand, SiLU, convolve over time, gate, contract. With `frames` (B,
/// T), those that are 0 there are read as zeros.
at::Tensor gated_convolution(const DitBlock& block, const at::Tensor& x,
                             const at::Tensor& frames = {});

at::Tensor run_block(const DitBlock& block, const at::Tensor& x, const ContextKeys& context,
                     const DitPass& pass, const at::Tensor& query_scale = {});

}  // namespace ubique::acestep
