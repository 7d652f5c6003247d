// SPDX-License-Identifier: Apache-2.0
// Latents to sound, tile by tile: memory does not grow with the song, the first sound comes after
// the first tile, and the samples are those of decoding all at once.
#pragma once

#include <functional>

#include "ubique/models/acestep/net/codec/dcae.h"
#include "ubique/models/acestep/net/codec/vocoder.h"

namespace ubique::acestep {

inline constexpr std::int64_t kDecodeTile = 64;  ///< latent frames: 6 seconds
/// For accelerators with memory to spare (1.6 GB): over a minute, and tiles repeat their edges.
inline constexpr std::int64_t kLargeDecodeTile = 768;

struct DecodeOptions {
  int rate = 48'000;                ///< of the sound
  std::int64_t tile = kDecodeTile;  ///< latent frames at once; see tile_for()
};

/// The next samples (B, channels, n) f32 on the host. Throwing stops the decoding.
using SoundSink = std::function<void(const at::Tensor& samples)>;

/// Gives the sound of latents (B, 8, 16, T) to the sink, in order and without gaps. Nothing is
/// blended: tiles overlap by what the networks' outputs depend on, and the overlap is dropped.
void decode_stream(const Dcae& dcae, const Vocoder& vocoder, const at::Tensor& latents,
                   const DecodeOptions& options, const SoundSink& sink);

/// Samples of T latent frames at a rate.
std::int64_t decoded_samples(const Dcae& dcae, const Vocoder& vocoder, std::int64_t frames,
                             int rate);

/// The longest tile, at most `most`, with which no convolution of the vocoder is longer than
/// `limit` positions: Metal had such a limit before macOS 15.1. 0 = no limit.
std::int64_t tile_for(const Dcae& dcae, const Vocoder& vocoder, std::int64_t limit,
                      std::int64_t most = kDecodeTile);

}  // namespace ubique::acestep
