// SPDX-License-Identifier: Apache-2.0
// How many tensors of one layer's size a training step through a chain holds at its worst moment:
// layer_chain.cpp's life of tensors, counted without computing. No torch.
// A training step's way through a chain of convolutions, forward and backward, with as little kept
// in between as possible: the convolutions' outputs, or only some of them. Knows no module and no
// autograd; tensors come prepared (dtype, layout, padding).
#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <vector>

#include "ubique/kernels/conv/norm_act.h"

namespace ubique::meshnet {

/// Does the chain keep this layer's output, with its `layers` cut into `segments`? The first
/// segment starts from the image, which is always there; 0 segments keep everything.
bool chain_keeps(std::int64_t layer, std::int64_t layers, std::int64_t segments);

std::int64_t chain_peak(std::int64_t layers, std::int64_t segments);

struct ChainLayer {
  at::Tensor weight;  ///< (O, I, k, k, k)
  at::Tensor bias;    ///< undefined: none, or a norm behind makes it pointless
  std::int64_t dilation = 1;
  kernels::NormAct after;  ///< not for the last layer
};

struct ChainGradients {
  at::Tensor weight, bias, norm_weight, norm_bias;  ///< undefined where there is none
};

class Chain {
 public:
  /// `segments` parts keep only their first convolution's output; 0 = all are kept.
  Chain(std::vector<ChainLayer> layers, std::int64_t segments);

  /// The last layer's output. `keep` false: nothing is remembered for backward.
  at::Tensor forward(at::Tensor image, bool keep);
  /// Gradients of every layer; what was kept is given up on the way. Once only.
  std::vector<ChainGradients> backward(at::Tensor gradient);
  /// Set by backward where it was asked for.
  at::Tensor image_gradient;
  bool wants_image_gradient = false;

  const std::vector<kernels::NormStatistics>& statistics() const { return statistics_; }
  bool spent() const { return !image_.defined(); }
  void clear();

 private:
  bool keeps(std::size_t layer) const;
  const at::Tensor& output(std::size_t layer);  // computed again if it was not kept

  std::vector<ChainLayer> layers_;
  std::int64_t segments_;
  at::Tensor image_;                                 // (B, I, D, H, W)
  std::vector<at::Tensor> outputs_;                  // of the convolutions but the last
  std::vector<kernels::NormStatistics> statistics_;  // of what follows them
};

}  // namespace ubique::meshnet
