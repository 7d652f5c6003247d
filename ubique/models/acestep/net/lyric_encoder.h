// SPDX-License-Identifier: Apache-2.0
// The lyric encoder: a transformer with relative positions as in Transformer-XL. (The original
// calls it a conformer, but its convolutions are off.)
#pragma once

#include "ubique/models/acestep/net/config/config.h"
#include "ubique/models/acestep/net/umt5.h"
#include "ubique/nn/layers/network.h"

namespace ubique::acestep {

struct LyricLayer {
  nn::LinearWeights q, k, v, output, position;
  at::Tensor content_bias, position_bias;  ///< (heads, head size), added to queries
  nn::LinearWeights up, down;
  nn::WeightAndBias attention_norm, mlp_norm;
};

struct LyricWeights {
  nn::LinearWeights input;
  nn::WeightAndBias input_norm, final_norm;
  std::vector<LyricLayer> layers;
};

void walk_lyric(nn::ParameterWalk& walk, const std::string& name, const LyricConfig& config,
                LyricWeights& weights);

/// Sinusoids, sine and cosine in turn, of the offsets N-1 .. -(N-1) between N lyric tokens:
/// (2N-1, H) f32 on the host, so that every device has the same bits.
at::Tensor lyric_offsets(std::int64_t length, std::int64_t hidden);

/// Hidden states of embedded lyrics (B, L, H), where mask (B, L) is not 0. Rows of padding are
/// finite, also where a whole item is padding. `offsets`: lyric_offsets() of L, where and as the
/// lyrics are.
at::Tensor encode_lyrics(const LyricWeights& weights, const LyricConfig& config,
                         const at::Tensor& embedded, const at::Tensor& mask,
                         const at::Tensor& offsets, bool training = false,
                         const LayerRange& weakened = {});

}  // namespace ubique::acestep
