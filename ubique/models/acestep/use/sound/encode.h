// SPDX-License-Identifier: Apache-2.0
// Sound to latents and latents to sound, as files hold sound.
#pragma once

#include <c10/core/Device.h>

#include "ubique/io/audio/audio.h"
#include "ubique/models/acestep/use/sound/decode_stream.h"

namespace ubique::acestep {

/// Log-mel spectrogram of stereo sound at 44.1 kHz in whole latent frames: (1, 2, 128, 8·T), f32 on
/// the host.
at::Tensor log_mel_of_sound(const io::Audio& audio);

/// Latents (1, C, 16, T), f32, of stereo sound at 44.1 kHz in whole latent frames.
at::Tensor source_latents(const Dcae& dcae, const io::Audio& audio, c10::Device device);

/// The whole sound of latents (1, C, 16, T); `sink` also gets each part as soon as it is made.
io::Audio decoded_sound(const Dcae& dcae, const Vocoder& vocoder, const at::Tensor& latents,
                        const DecodeOptions& options = {}, const SoundSink& sink = {});

}  // namespace ubique::acestep
