// SPDX-License-Identifier: Apache-2.0
// How loud a sound is: integrated loudness as ITU-R BS.1770-4 measures it (K-weighted, gated), and
// its peaks.
#pragma once

#include "ubique/io/audio/audio.h"

namespace ubique::data {

/// In LUFS; minus infinity for silence and for less than 0.4 s, the length of one gating block.
double integrated_loudness(const io::Audio& audio);

/// Largest absolute sample.
float sample_peak(const io::Audio& audio);
/// Largest absolute value of the wave between samples, estimated at four times the rate.
float true_peak(const io::Audio& audio);

/// Decibels relative to full scale; minus infinity for 0.
double decibels(double amplitude);

/// Scales to `lufs`, but only so far that the true peak stays at `ceiling` decibels. Returns the
/// gain in decibels; 0, and the sound as it was, where there is no loudness to speak of.
double normalize_loudness(io::Audio& audio, double lufs, double ceiling = -1);

/// Raised-cosine fades over the first and last seconds; longer than half the sound is cut to that.
void fade(io::Audio& audio, double in_seconds, double out_seconds);

}  // namespace ubique::data
