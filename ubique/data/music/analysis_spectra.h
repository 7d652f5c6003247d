// SPDX-License-Identifier: Apache-2.0
// Short-time spectra of a piece, and how strong a pitch is in them.
#pragma once

#include <cstdint>
#include <vector>

#include "ubique/io/audio/audio.h"

namespace ubique::data {

/// Amplitudes of a mono sound at kMusicRate. Frames are mirrored at both ends.
class MusicSpectra {
 public:
  explicit MusicSpectra(const io::Audio& mono);

  static constexpr int kWindow = 4096, kHop = 512;

  std::int64_t frames() const { return frames_; }
  double frames_per_second() const;
  /// Mean amplitudes over frames [begin, end), by bin.
  std::vector<double> mean(std::int64_t begin, std::int64_t end) const;
  /// How much louder a frame is than the one before it, over all bins.
  std::vector<double> onsets() const;
  /// Energy of each frame.
  std::vector<double> energies() const;

 private:
  std::int64_t frames_ = 0, bins_ = 0;
  std::vector<float> values_;  // (frames, bins)
};

/// Hz of a bin.
double music_bin_frequency(std::size_t bin);
/// Largest amplitude within a share of the frequency; 0 above the highest bin.
double strength_at(const std::vector<double>& spectrum, double frequency, double tolerance);
/// Bins that are larger than both neighbours, between two frequencies.
std::vector<std::size_t> peaks_between(const std::vector<double>& spectrum, double low,
                                       double high);

/// Frames between beats and the frame of the first beat, from onsets; a period of 0: no beat.
struct BeatGrid {
  double period = 0, first = 0;
};
BeatGrid find_beats(const std::vector<double>& onsets, double frames_per_second);

}  // namespace ubique::data
