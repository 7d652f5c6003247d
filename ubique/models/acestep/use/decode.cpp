// SPDX-License-Identifier: Apache-2.0
// Ranges of the networks' inputs and outputs.
#include "ubique/models/acestep/use/decode.h"

#include <ATen/ATen.h>

namespace ubique::acestep {
namespace {

// Log-mel values of -11 to 3 become -1 to 1 for the autoencoder.
constexpr double kLeastLogMel = -11, kLogMelRange = 14;
// Latents are moved and scaled to about mean 0 and deviation 1.
constexpr double kLatentShift = -1.9091, kLatentScale = 0.1786;

}  // namespace

at::Tensor latents_of(const Dcae& dcae, const at::Tensor& log_mel) {
  const auto share = (log_mel - kLeastLogMel) / kLogMelRange;
  return (dcae.encode((share - 0.5) / 0.5) - kLatentShift) * kLatentScale;
}

at::Tensor log_mel_of(const Dcae& dcae, const at::Tensor& latents) {
  const auto decoded = dcae.decode(latents / kLatentScale + kLatentShift);
  return (decoded * 0.5 + 0.5) * kLogMelRange + kLeastLogMel;
}

at::Tensor sound_of(const Vocoder& vocoder, const at::Tensor& log_mel) {
  const auto channels = log_mel.size(1);
  const auto sound = vocoder.forward(log_mel.flatten(0, 1));  // (B·channels, 1, samples)
  return sound.squeeze(1).unflatten(0, {-1, channels});
}

}  // namespace ubique::acestep
