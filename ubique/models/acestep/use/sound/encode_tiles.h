// SPDX-License-Identifier: Apache-2.0
// Spectrograms to latents, tile by tile.
#pragma once

#include "ubique/models/acestep/net/codec/dcae.h"

namespace ubique::acestep {

/// latents_of() in tiles of some latent frames, (B, C, 16, T) f32. Of the network's values only
/// those at the latents' own resolution are in memory for the whole sound: 64 KiB a frame at the
/// released sizes, and 2 KiB of spectrogram.
at::Tensor latents_in_tiles(const Dcae& dcae, const at::Tensor& log_mel, std::int64_t tile = 64);

}  // namespace ubique::acestep
