// SPDX-License-Identifier: Apache-2.0
// Pictures of a sound, for reports: its wave, and its mel spectrogram.
#pragma once

#include "ubique/data/audio/mel.h"
#include "ubique/io/audio/audio.h"
#include "ubique/io/images/png.h"

namespace ubique::data {

/// From quietest to loudest of each column, both channels one above the other; light on dark.
io::Picture draw_wave(const io::Audio& audio, int width = 800, int height = 160);

/// Time to the right, frequency upwards, 80 dB from black over purple and orange to light yellow;
/// channels are mixed. Shorter than one window: all black.
io::Picture draw_spectrogram(const io::Audio& audio, int width = 800, int height = 256);
/// The same of log-mel values (natural logarithm), as the vocoder has them.
io::Picture draw_spectrogram(const Spectrogram& log_mel, int width, int height);

}  // namespace ubique::data
