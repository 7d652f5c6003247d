// SPDX-License-Identifier: Apache-2.0
// The autoencoder of stereo mel spectrograms: 128 bands and 8 T frames become latents of 16 rows
// and T frames.
#pragma once

#include "ubique/models/acestep/net/codec/dcae_blocks.h"

namespace ubique::acestep {

struct DcaeWeights {
  struct Side {
    nn::WeightAndBias input, output;
    std::vector<DcaeLevel> levels;  ///< finest first
  };
  Side encoder, decoder;
  nn::WeightAndBias decoder_norm;
};

class Dcae final : public nn::Network {
 public:
  /// Parameters are zero.
  explicit Dcae(const DcaeConfig& config, const at::TensorOptions& options = {});

  const DcaeConfig& config() const { return config_; }
  const DcaeWeights& weights() const { return weights_; }
  /// Spectrograms (B, 2, H, W) to latents (B, C, H/8, W/8), in the network's own range. Input error
  /// for a height or width that is no multiple of 8.
  at::Tensor encode(const at::Tensor& spectrogram) const;
  at::Tensor decode(const at::Tensor& latents) const;
  /// The same as steps along the width, for tiles; valid as long as the network.
  LocalSteps encoder_steps() const;
  LocalSteps decoder_steps() const;
  /// Keeps the channels of a position side by side, in the weights and so in all values: faster
  /// where a device's convolutions like it. The numbers are the same but for rounding.
  void use_channels_last();
  /// The decoder in f16, but for norms and its last convolution: for devices that multiply f16
  /// faster. Sums stay in f32.
  void decode_in_half();
  std::int64_t columns_per_latent() const;  ///< of the spectrogram; rows too

 private:
  void visit(nn::ParameterWalk& walk) override;

  DcaeConfig config_;
  DcaeWeights weights_;
};

/// Names and shapes of the parameters, allocating nothing.
nn::NamedShapes parameter_shapes(const DcaeConfig& config);

}  // namespace ubique::acestep
