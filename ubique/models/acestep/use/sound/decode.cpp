// SPDX-License-Identifier: Apache-2.0
// Ranges of the networks' inputs and outputs.
#include "ubique/models/acestep/use/sound/decode.h"

#include <ATen/ATen.h>

namespace ubique::acestep {
namespace {

// Log-mel values of -11 to 3 become -1 to 1 for the autoencoder.
constexpr double kLeastLogMel = -11, kLogMelRange = 14;
// Latents are moved and scaled to about mean 0 and deviation 1.
constexpr double kLatentShift = -1.9091, kLatentScale = 0.1786;

}  // namespace

at::Tensor network_log_mel(const at::Tensor& log_mel) {
  return ((log_mel - kLeastLogMel) / kLogMelRange - 0.5) / 0.5;
}

at::Tensor scaled_latents(const at::Tensor& encoded) {
  return (encoded - kLatentShift) * kLatentScale;
}

at::Tensor latents_of(const Dcae& dcae, const at::Tensor& log_mel) {
  return scaled_latents(dcae.encode(network_log_mel(log_mel)));
}

at::Tensor network_latents(const at::Tensor& latents) {
  return latents / kLatentScale + kLatentShift;
}

at::Tensor log_mel_values(const at::Tensor& decoded) {
  return (decoded * 0.5 + 0.5) * kLogMelRange + kLeastLogMel;
}

at::Tensor log_mel_of(const Dcae& dcae, const at::Tensor& latents) {
  return log_mel_values(dcae.decode(network_latents(latents)));
}

at::Tensor sound_of(const Vocoder& vocoder, const at::Tensor& log_mel) {
  const auto channels = log_mel.size(1);
  const auto sound = vocoder.forward(log_mel.flatten(0, 1));  // (B·channels, 1, samples)
  return sound.squeeze(1).unflatten(0, {-1, channels});
}

}  // namespace ubique::acestep
