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

  /// Frames of the result, from `first` on, that stand on the input frames `held`, the first of
  /// which is number `begin`. Beyond frame `end` and before frame 0 there is silence.
  void convert_part(std::span<const float> held, std::int64_t begin, std::int64_t end,
                    std::int64_t first, std::span<float> out) const;
  /// Input frames that a frame of the result reads: the first of them (below 0: silence).
  std::int64_t first_read(std::int64_t frame) const {
    return frame / to_ * from_ + first_[static_cast<std::size_t>(frame % to_)];
  }
  std::int64_t taps() const { return taps_; }      ///< how many it reads
  bool same_rate() const { return from_ == to_; }  ///< convert() copies

  /// Weights of one phase of the output, for input frames first(phase) on: for tests.
  std::span<const float> weights(std::int64_t phase) const;
  std::int64_t first(std::int64_t phase) const { return first_[static_cast<std::size_t>(phase)]; }

 private:
  std::int64_t from_, to_;  // without their common divisor
  std::int64_t taps_ = 0;   // of each phase
  std::vector<std::int64_t> first_;
  std::vector<float> weights_;  // (phases, taps)
};

/// convert() of a wave that comes in pieces: what it gives joins to the same frames.
class RateStream {
 public:
  RateStream(int from, int to) : converter_(from, to) {}

  /// The frames of the result that need no more of the wave.
  std::vector<float> push(std::span<const float> piece);
  /// The wave has ended: the rest.
  std::vector<float> finish();

 private:
  std::vector<float> take(std::int64_t last);

  RateConverter converter_;
  std::vector<float> held_;           // the last frames of the wave so far
  std::int64_t begin_ = 0;            // number of the first of them
  std::int64_t size_ = 0, done_ = 0;  // frames that came, and that were given
};

/// All channels; the same sound if the rate is right already.
io::Audio resampled(const io::Audio& audio, int rate);

/// One channel twice; stereo stays.
io::Audio as_stereo(io::Audio audio);
/// The mean of both channels; mono stays.
io::Audio as_mono(io::Audio audio);

}  // namespace ubique::data
