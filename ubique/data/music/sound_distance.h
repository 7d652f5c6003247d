// SPDX-License-Identifier: Apache-2.0
// How far a sound is from another that it should be.
#pragma once

#include <span>

#include "ubique/io/audio/audio.h"

namespace ubique::data {

/// Mean absolute difference of log-mel spectrograms, as the vocoder has them; channels by turns.
double log_mel_distance(const io::Audio& wanted, const io::Audio& got);
/// Over windows of 512, 1024 and 2048 samples: the norm of the difference of magnitudes as a share
/// of the wanted one, plus the mean absolute difference of their logarithms.
double spectral_distance(const io::Audio& wanted, const io::Audio& got);

}  // namespace ubique::data
