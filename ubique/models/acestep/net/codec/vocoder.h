// SPDX-License-Identifier: Apache-2.0
// The vocoder: log-mel spectrograms of one channel to a waveform. Weights are folded: a file with
// weight norm has the lengths and directions of the same weights.
#pragma once

#include "ubique/models/acestep/net/codec/local_steps.h"
#include "ubique/models/acestep/net/config/config.h"
#include "ubique/nn/layers/network.h"

namespace ubique::acestep {

struct ConvNextBlock {
  nn::WeightAndBias depthwise, norm;
  nn::LinearWeights expand, contract;
  at::Tensor gamma;
};

struct ConvNextStage {
  nn::WeightAndBias conv, norm;  ///< before the blocks; the first stage convolves first
  std::vector<ConvNextBlock> blocks;
};

/// Pairs of convolutions, the first of each dilated, around residuals.
struct DilatedBlock {
  std::vector<nn::WeightAndBias> first, second;
};

struct VocoderWeights {
  std::vector<ConvNextStage> stages;
  nn::WeightAndBias backbone_norm;
  nn::WeightAndBias input, output;
  std::vector<nn::WeightAndBias> upsamplers;
  std::vector<DilatedBlock> blocks;  ///< as many after each upsampler as there are kernels
};

class Vocoder final : public nn::Network {
 public:
  /// Parameters are zero.
  explicit Vocoder(const VocoderConfig& config, const at::TensorOptions& options = {});

  const VocoderConfig& config() const { return config_; }
  const VocoderWeights& weights() const { return weights_; }
  at::Tensor backbone(const at::Tensor& mel) const;  ///< (B, mels, F) to (B, C, F)
  at::Tensor forward(const at::Tensor& mel) const;   ///< (B, mels, F) to (B, 1, hop·F)
  /// forward() as steps along the frames, for tiles; valid as long as the network.
  LocalSteps steps() const;
  /// The head, where nearly all work is, in f16 with channels side by side, but for its last
  /// convolution: for devices that multiply f16 faster. Sums stay in f32.
  void compute_in_half();

 private:
  void visit(nn::ParameterWalk& walk) override;
  LocalSteps backbone_steps() const;
  void add_upsampling(LocalSteps& steps, std::size_t stage) const;
  at::Tensor mix_blocks(std::size_t stage, const at::Tensor& x) const;

  VocoderConfig config_;
  VocoderWeights weights_;
};

/// Names and shapes of the parameters, allocating nothing.
nn::NamedShapes parameter_shapes(const VocoderConfig& config);
/// The same as released files have them: weight norm in two tensors.
nn::NamedShapes file_shapes(const VocoderConfig& config);
/// Tensors of released files that are computed here: the window and the mel filters.
nn::NamedShapes unused_shapes(const VocoderConfig& config);

}  // namespace ubique::acestep
