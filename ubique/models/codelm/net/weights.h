// SPDX-License-Identifier: Apache-2.0
// The weights of a network, and the one walk over them: it gives names and shapes without a
// network, creates the parameters of one, and finds them again.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "ubique/models/codelm/net/layout.h"
#include "ubique/nn/layers/linear.h"
#include "ubique/nn/layers/network.h"

namespace ubique::codelm {

using NormWeights = nn::WeightAndBias;  ///< (H); undefined = the block has no such norm

struct BlockWeights {
  NormWeights first_norm, second_norm;
  nn::LinearWeights qkv;      ///< fused layouts
  nn::LinearWeights q, k, v;  ///< the others
  nn::LinearWeights output, gate, up, down;
  at::Tensor q_norm, k_norm;  ///< (head size)
};

struct NetworkWeights {
  at::Tensor tokens, positions;  ///< (V, H), (context, H) or undefined
  std::vector<BlockWeights> blocks;
  NormWeights final_norm;
  at::Tensor head, head_bias;  ///< (V, H), (V) or undefined; undefined if tied
};

/// In file order. `weights` has a block for each layer.
void visit_parameters(const CodelmConfig& config, NetworkWeights& weights, nn::ParameterWalk& walk);

}  // namespace ubique::codelm
