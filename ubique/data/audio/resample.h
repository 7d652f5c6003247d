// SPDX-License-Identifier: Apache-2.0
// Changes the sample rate as torchaudio does: a sinc filter with a Hann window, six zero crossings
// wide, its edge at 0.99 of the lower rate's limit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ubique/io/audio/audio.h"

namespace ubique::data {

class RateConverter {
 public:
  /// Input error for rates outside of io::kLowestRate to io::kHighestRate.
  RateConverter(int from, int to);

  /// Frames that come of `frames`.
  std::int64_t length(std::int64_t frames) const;
  /// One channel.
  std::vector<float> convert(std::span<const float> wave) const;

  /// Weights of one phase of the output, for input frames first(phase) on: for tests.
  std::span<const float> weights(std::int64_t phase) const;
  std::int64_t first(std::int64_t phase) const { return first_[static_cast<std::size_t>(phase)]; }

 private:
  std::int64_t from_, to_;  // without their common divisor
  std::int64_t taps_ = 0;   // of each phase
  std::vector<std::int64_t> first_;
  std::vector<float> weights_;  // (phases, taps)
};

/// All channels; the same sound if the rate is right already.
io::Audio resampled(const io::Audio& audio, int rate);

/// One channel twice; stereo stays.
io::Audio as_stereo(io::Audio audio);
/// The mean of both channels; mono stays.
io::Audio as_mono(io::Audio audio);

}  // namespace ubique::data
