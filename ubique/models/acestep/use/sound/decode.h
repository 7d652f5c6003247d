// SPDX-License-Identifier: Apache-2.0
// Latents to spectrograms to sound, and spectrograms to latents.
#pragma once

#include "ubique/models/acestep/net/codec/dcae.h"
#include "ubique/models/acestep/net/codec/vocoder.h"

namespace ubique::acestep {

/// Latents (B, 8, 16, T) as the transformer has them from log-mel spectrograms (B, 2, 128, 8·T).
at::Tensor latents_of(const Dcae& dcae, const at::Tensor& log_mel);
/// Log-mel spectrograms (B, 2, 128, 8·T) from latents.
at::Tensor log_mel_of(const Dcae& dcae, const at::Tensor& latents);
// The same without the network: into its range, and back from it.
at::Tensor network_log_mel(const at::Tensor& log_mel);
at::Tensor scaled_latents(const at::Tensor& encoded);
at::Tensor network_latents(const at::Tensor& latents);
at::Tensor log_mel_values(const at::Tensor& decoded);
/// Sound (B, channels, samples) at the vocoder's rate from log-mel spectrograms (B, channels, 128,
/// frames); all channels in one batch.
at::Tensor sound_of(const Vocoder& vocoder, const at::Tensor& log_mel);

}  // namespace ubique::acestep
