// SPDX-License-Identifier: Apache-2.0
// A song's sound as the transformer sees it.
#pragma once

#include <ATen/core/Tensor.h>

#include "ubique/io/audio/audio.h"
#include "ubique/models/acestep/net/codec/dcae.h"

namespace ubique::acestep {

inline constexpr double kLeastSeconds = 3, kMostSeconds = 240;  ///< of a clip to train on

/// Stereo at 44.1 kHz within full scale, padded with silence to kLeastSeconds and cut to `most`
/// seconds. Input error for a clip that is nearly all zeros.
io::Audio clip_sound(const io::Audio& audio, double most, const std::string& name);
/// Latents (8, 16, T), f32 on the host, of stereo sound at 44.1 kHz, padded to whole frames.
at::Tensor sound_latents(const Dcae& dcae, const io::Audio& sound);

}  // namespace ubique::acestep
