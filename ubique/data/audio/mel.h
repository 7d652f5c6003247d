// SPDX-License-Identifier: Apache-2.0
// The mel spectrogram of the music vocoder: magnitudes of a short-time Fourier transform, summed in
// triangular bands on Slaney's mel scale, and their logarithm.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ubique/data/audio/fft.h"

namespace ubique::data {

struct MelConfig {
  int rate = 44'100;
  int window = 2'048;  ///< of the Fourier transform, a power of two; Hann
  int hop = 512;
  int bands = 128;
  double lowest = 40, highest = 16'000;  ///< Hz
};

/// Rows of one channel, one after the other.
struct Spectrogram {
  std::int64_t rows = 0, frames = 0;
  std::vector<float> values = {};  ///< (rows, frames)
};

/// One for each thread.
class MelSpectrogram {
 public:
  explicit MelSpectrogram(MelConfig config = {});

  const MelConfig& config() const { return config_; }
  /// The wave is mirrored at both ends by (window - hop) / 2, so that `frames * hop` samples give
  /// `frames`. Input error for a wave that is too short to be mirrored.
  std::int64_t frames(std::int64_t samples) const;
  /// sqrt(re^2 + im^2 + 1e-6). (window / 2 + 1, frames)
  Spectrogram magnitudes(std::span<const float> wave);
  /// log(max(bands, 1e-5)). (bands, frames)
  Spectrogram log_mel(std::span<const float> wave);

  /// Weights of one band, for bins first_bin(band) on.
  std::span<const float> band(int index) const {
    return bands_[static_cast<std::size_t>(index)].weights;
  }
  int first_bin(int index) const { return bands_[static_cast<std::size_t>(index)].first; }

 private:
  struct Band {
    int first = 0;
    std::vector<float> weights = {};
  };

  void make_bands();
  /// Calls `take(frame, magnitudes)` for each frame in order.
  template <typename Take>
  void for_each_frame(std::span<const float> wave, const Take& take);

  MelConfig config_;
  RealFft fft_;
  std::vector<float> window_;
  std::vector<Band> bands_;
};

}  // namespace ubique::data
