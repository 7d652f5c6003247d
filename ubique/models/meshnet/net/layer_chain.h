// SPDX-License-Identifier: Apache-2.0
// Forward and backward of a training step through a chain of convolutions. Only the convolutions'
// outputs are saved, or with gradient checkpointing only some of them. No modules, no autograd;
// tensors come prepared (dtype, layout, padding).
#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <vector>

#include "ubique/kernels/conv/norm_act.h"

namespace ubique::engine {
class PassSums;
}

namespace ubique::meshnet {

/// True if forward saves this layer's output, with the `layers` cut into `segments`. The first
/// segment starts from the image, which is always saved; 0 segments save everything.
bool chain_saves(std::int64_t layer, std::int64_t layers, std::int64_t segments);

/// The most tensors of one layer's size that a training step holds at any time.
std::int64_t chain_peak(std::int64_t layers, std::int64_t segments);

struct ChainLayer {
  at::Tensor weight;  ///< (O, I, k, k, k)
  at::Tensor bias;    ///< undefined: none, or cancelled by the norm that follows
  std::int64_t dilation = 1;
  kernels::NormAct after;  ///< unused for the last layer
};

struct ChainGradients {
  at::Tensor weight, bias, norm_weight, norm_bias;  ///< undefined where there is none
};

class Chain {
 public:
  /// Each of `segments` segments saves only its first convolution's output; 0 = all are saved.
  /// `sums`: batch norms take the statistics of all ranks; null: those of the image.
  Chain(std::vector<ChainLayer> layers, std::int64_t segments, engine::PassSums* sums = nullptr);

  /// The last layer's output. `save` false: nothing is saved for backward.
  at::Tensor forward(at::Tensor image, bool save);
  /// Gradients of every layer. Frees saved tensors as it goes, so it can run only once.
  std::vector<ChainGradients> backward(at::Tensor gradient);
  /// Set by backward if wants_image_gradient.
  at::Tensor image_gradient;
  bool wants_image_gradient = false;

  const std::vector<kernels::NormStatistics>& statistics() const { return statistics_; }
  std::int64_t values() const { return values_; }  ///< voxels that the statistics are of
  bool spent() const { return !image_.defined(); }
  void clear();

 private:
  bool saves(std::size_t layer) const;
  const at::Tensor& output(std::size_t layer);  // recomputed if it was not saved
  at::Tensor normed(const at::Tensor& output, std::size_t layer);
  kernels::NormActGradients normed_backward(at::Tensor gradient, at::Tensor result,
                                            std::size_t layer);

  std::vector<ChainLayer> layers_;
  std::int64_t segments_;
  engine::PassSums* sums_;
  std::int64_t values_ = 0;
  at::Tensor image_;                                 // (B, I, D, H, W)
  std::vector<at::Tensor> outputs_;                  // of all convolutions but the last
  std::vector<kernels::NormStatistics> statistics_;  // of the norms after them
};

}  // namespace ubique::meshnet
