// SPDX-License-Identifier: Apache-2.0
// The network as a torch module. State-dict names are those of arc-meshchop: network.I.conv.weight,
// network.I.bn.running_mean, ..., network.N.weight for the classifier. Knows no device: layouts,
// padding and recomputation are options that whoever has the plan sets.
#pragma once

#include <torch/nn/module.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "ubique/base/numbers/random.h"
#include "ubique/engine/contract/batch.h"
#include "ubique/models/meshnet/net/config.h"
#include "ubique/plan/needs.h"

namespace ubique::meshnet {

/// How a training step is computed; none of it changes the numbers beyond rounding.
struct TrainingOptions {
  std::int64_t pad_channels_to = 1;  ///< channels are padded with zeros to a multiple of this
  std::int64_t segments = 0;  ///< parts whose inside is computed again in backward; 0 = keep all
  bool channels_last = false;
};

class BatchNorm final : public torch::nn::Module {
 public:
  explicit BatchNorm(std::int64_t channels);
  at::Tensor weight, bias, running_mean, running_var, num_batches_tracked;
};

class Convolution final : public torch::nn::Module {
 public:
  Convolution(std::int64_t in, std::int64_t out, std::int64_t kernel, bool with_bias);
  at::Tensor weight, bias;  ///< bias undefined without one
};

/// One dilated convolution with what follows it.
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

  /// Logits (B, classes, D, H, W) of images (B, 1, D, H, W). In train mode with gradients only the
  /// convolutions' outputs are kept, norms and activations are computed again in backward, and the
  /// running statistics move once. Under autocast the convolutions run in its dtype.
  at::Tensor forward(const at::Tensor& image);

  std::vector<std::shared_ptr<Block>> blocks;
  std::shared_ptr<Convolution> classifier;

 private:
  at::Tensor forward_trained(const at::Tensor& image);  // in eval mode

  MeshNetConfig config_;
  TrainingOptions options_;
};

/// Fresh weights from the host's generator: the same bits on every device and machine.
void initialize(MeshNet& network, const Random& random);

/// Every parameter and buffer in upstream's order, sharing memory with the network.
engine::NamedTensors state_of(const MeshNet& network);
/// Copies a state dict in, as engine::load_state does; a missing num_batches_tracked counts as 0.
void load_state(MeshNet& network, const engine::NamedTensors& state);

/// What training and inference take for one volume of that shape, for this implementation.
plan::Needs needs_of(const MeshNetConfig& config, const std::array<std::int64_t, 3>& shape,
                     std::int64_t mask_bytes = 1);

}  // namespace ubique::meshnet
