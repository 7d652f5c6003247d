// SPDX-License-Identifier: Apache-2.0
// What the autoencoder and the vocoder lose of songs: they bound how good generated music can
// sound.
#pragma once

#include "ubique/io/audio/audio.h"
#include "ubique/models/acestep/net/codec/dcae.h"
#include "ubique/models/acestep/net/codec/vocoder.h"

namespace ubique::acestep {

struct CodecScores {
  double dcae_log_mel = 0;     ///< L1 of the spectrogram after the autoencoder
  double vocoder_log_mel = 0;  ///< L1 of the sound's spectrogram after the vocoder alone
  double vocoder_spectral = 0;
  double chain_log_mel = 0;  ///< after both
  double chain_spectral = 0;

  CodecScores& operator+=(const CodecScores& other);
  CodecScores divided(double count) const;
};

/// Of stereo sound at 44.1 kHz (clip_sound()).
CodecScores score_codec(const Dcae& dcae, const Vocoder& vocoder, const io::Audio& sound);

}  // namespace ubique::acestep
