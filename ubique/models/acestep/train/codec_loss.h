// SPDX-License-Identifier: Apache-2.0
// What the autoencoder and the vocoder are trained by: distances between spectrograms and between
// sounds.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "ubique/models/acestep/net/codec/dcae.h"

namespace ubique::acestep {

struct DcaeLossOptions {
  double multiscale = 0.5;  ///< weight of the distances of coarser spectrograms
  double sides = 1;         ///< weight of the difference between left and right
  double moments = 0.05;    ///< weight of latents' distance from mean 0 and deviation 1
  double noise = 0.1;  ///< deviation of noise on the latents: sampled ones are not exact either
};

struct DcaeLoss {
  at::Tensor total, squared, multiscale, sides, moments;  ///< f32 scalars
};

/// Of log-mel spectrograms (B, 2, 128, 8·T) that become latents and come back; `noise` (B, 8, 16,
/// T).
DcaeLoss dcae_loss(const Dcae& dcae, const at::Tensor& log_mel, const at::Tensor& noise,
                   const DcaeLossOptions& options);

/// Mean absolute difference, and of means over 2, 4 and 8 rows and frames.
at::Tensor multiscale_distance(const at::Tensor& made, const at::Tensor& wanted);

struct SoundLossOptions {
  double wave =
      0;  ///< weight of the wave's own error: only where its phase follows from the frames
  double emphasis = 0;  ///< 0 to below 1: how much more high partials count in it
  double stft = 1;
  double mel = 0.5;
};

struct SoundLoss {
  at::Tensor total, wave, stft, mel;  ///< f32 scalars
};

/// Compares sounds (B, samples). Holds windows and mel filters on the device of the last call.
class SoundDistance {
 public:
  SoundLoss operator()(const at::Tensor& made, const at::Tensor& wanted,
                       const SoundLossOptions& options) const;
  /// Spectral convergence and log magnitudes, over several resolutions.
  at::Tensor stft_distance(const at::Tensor& made, const at::Tensor& wanted) const;
  /// Log-mel spectrograms as the vocoder's (B, 128, F), values from `least` on.
  at::Tensor log_mel(const at::Tensor& sound, double least) const;
  /// Mean square of the difference as a share of the wanted wave's, after x[t] - emphasis·x[t - 1].
  static at::Tensor wave_distance(const at::Tensor& made, const at::Tensor& wanted,
                                  double emphasis);

 private:
  void set_tables(const at::Tensor& sound) const;

  mutable std::vector<at::Tensor> windows_;
  mutable at::Tensor filters_;  // (bins, 128)
};

}  // namespace ubique::acestep
