// SPDX-License-Identifier: Apache-2.0
// The blocks of the autoencoder: residual convolutions, EfficientViT attention, and the steps
// between levels with their parameter-free shortcuts. Tensors are (B, C, H, W).
#pragma once

#include "ubique/models/acestep/net/codec/local_steps.h"
#include "ubique/models/acestep/net/config/config.h"
#include "ubique/nn/layers/network.h"

namespace ubique::acestep {

struct ResBlock {
  nn::WeightAndBias first, second, norm;
};

/// Attention over all positions with queries, keys and values at several scales, then a gated
/// convolution.
struct VitBlock {
  nn::LinearWeights q, k, v, output;
  struct Scale {
    nn::WeightAndBias spread, mix;  ///< k x k per channel, then 1x1 within each head
  };
  std::vector<Scale> scales;
  nn::WeightAndBias attention_norm;
  nn::WeightAndBias expand, depthwise, contract, mlp_norm;
};

/// One level: its blocks are of one kind.
struct DcaeLevel {
  std::vector<ResBlock> residual;
  std::vector<VitBlock> attention;
  nn::WeightAndBias step;  ///< to the next level; undefined at the coarsest
};

/// Where the convolution between levels stands among a level's children in the files.
enum class StepPlace { First, Last };

/// Blocks of `channels`; a step from `step_in` to `step_out` channels unless these are 0.
struct LevelShape {
  std::string name;
  std::int64_t channels = 0, layers = 0;
  bool attention = false;
  Sizes multiscales = {};
  std::int64_t head_size = 0;
  std::int64_t step_in = 0, step_out = 0;
  StepPlace place = StepPlace::Last;
};

void walk_level(nn::ParameterWalk& walk, const LevelShape& shape, DcaeLevel& level);

/// The blocks of a level, which must outlive the steps.
void add_blocks(LocalSteps& steps, const DcaeLevel& level, std::int64_t head_size);
/// The attention of a block with its residual. `sums` of vit_sums() over all positions; undefined =
/// x holds them all.
at::Tensor vit_attention(const VitBlock& block, const at::Tensor& x, std::int64_t head_size,
                         const at::Tensor& sums = {});
/// What the attention reads of columns of x: (B, heads, size + 1, size), the sums of vᵀk and, as
/// the last row, of k; in f32.
at::Tensor vit_sums(const VitBlock& block, const at::Tensor& x, std::int64_t head_size,
                    Range columns);
/// Half the height and width; the shortcut averages channels of a pixel's four quarters.
at::Tensor step_down(const nn::WeightAndBias& step, const at::Tensor& x);
/// Twice the height and width; the shortcut repeats channels into a pixel's four quarters.
at::Tensor step_up(const nn::WeightAndBias& step, const at::Tensor& x);
/// RMS norm over channels.
at::Tensor channel_norm(const at::Tensor& x, const nn::WeightAndBias& weights);

}  // namespace ubique::acestep
