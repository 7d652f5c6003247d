// SPDX-License-Identifier: Apache-2.0
// The network as a torch module. State-dict names are those of arc-meshchop: network.I.conv.weight,
// network.I.bn.running_mean, ..., network.N.weight for the classifier. Knows no device: layouts,
// padding and recomputation are options, set from the plan.
#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "ubique/models/meshnet/net/config.h"

namespace ubique::engine {
class PassSums;
}

namespace ubique::meshnet {

/// How a training step is computed; results differ by rounding only.
struct TrainingOptions {
  std::int64_t pad_channels_to = 1;  ///< channels are padded with zeros to a multiple of this
  std::int64_t segments = 0;  ///< gradient checkpointing: segments recomputed in backward; 0 = none
  bool channels_last = false;
  engine::PassSums* sums = nullptr;  ///< of batch norms over several ranks; null = this batch's
};

class BatchNorm final : public torch::nn::Module {
 public:
  explicit BatchNorm(std::int64_t channels);
  at::Tensor weight, bias, running_mean, running_var, num_batches_tracked;
};

class Convolution final : public torch::nn::Module {
 public:
  Convolution(std::int64_t in, std::int64_t out, std::int64_t kernel, bool with_bias);
  at::Tensor weight, bias;  ///< bias undefined if there is none
};

/// One dilated convolution and its norm.
class Block final : public torch::nn::Module {
 public:
  Block(const MeshNetConfig& config, std::size_t index);
  std::shared_ptr<Convolution> conv;
  std::shared_ptr<BatchNorm> bn;  ///< null without batch norm
};

class MeshNet final : public torch::nn::Module {
 public:
  /// Weights are zero (norms: one) until initialize() or load_state().
  explicit MeshNet(MeshNetConfig config);

  const MeshNetConfig& config() const { return config_; }
  const TrainingOptions& training_options() const { return options_; }
  void set_training_options(const TrainingOptions& options) { options_ = options; }

  /// Logits (B, classes, D, H, W) of images (B, 1, D, H, W). In train mode only the convolutions'
  /// outputs are saved for backward, which recomputes norms and activations; the running statistics
  /// are updated once. Under autocast the convolutions run in its dtype.
  at::Tensor forward(const at::Tensor& image);

  std::vector<std::shared_ptr<Block>> blocks;
  std::shared_ptr<Convolution> classifier;

 private:
  at::Tensor forward_eval(const at::Tensor& image);

  MeshNetConfig config_;
  TrainingOptions options_;
};

}  // namespace ubique::meshnet
