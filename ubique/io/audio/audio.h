// SPDX-License-Identifier: Apache-2.0
// Sound in memory, and what every audio file must keep to before memory is taken for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ubique::io {

/// Mono or stereo sound. Full scale is -1 to 1; louder values are kept.
struct Audio {
  int rate = 0;                     ///< frames per second
  int channels = 0;                 ///< 1 or 2
  std::vector<float> samples = {};  ///< (channels, frames): one channel after the other

  std::int64_t frames() const {
    return channels > 0 ? static_cast<std::int64_t>(samples.size()) / channels : 0;
  }
  double seconds() const { return rate > 0 ? static_cast<double>(frames()) / rate : 0; }
  std::span<float> channel(int index) {
    return std::span(samples).subspan(static_cast<std::size_t>(index * frames()),
                                      static_cast<std::size_t>(frames()));
  }
  std::span<const float> channel(int index) const {
    return std::span(samples).subspan(static_cast<std::size_t>(index * frames()),
                                      static_cast<std::size_t>(frames()));
  }
};

/// How samples are stored in a file.
enum class SampleFormat { Int16, Int24, Int32, Float32 };

inline constexpr int kLowestRate = 1'000, kHighestRate = 768'000;
/// 2 GiB of samples: an hour and a half of stereo at 48 kHz.
inline constexpr std::int64_t kMostSamples = std::int64_t{1} << 29U;

/// Input error for a rate outside of 1 kHz to 768 kHz, and for more than two channels: nobody has
/// said which of them is left and right, so they are not mixed silently.
void check_layout(std::int64_t rate, std::int64_t channels, const std::string& name);
/// Input error for more than kMostSamples.
void check_length(std::int64_t frames, std::int64_t channels, const std::string& name);
/// Internal error unless the values fit rate and channels; Input error for NaN and infinity, which
/// players turn into full-scale noise.
void check_audio(const Audio& audio, const std::string& name);

/// Interleaved frames as one channel after the other.
std::vector<float> separated(std::span<const float> interleaved, int channels);
/// The inverse, for frames [begin, end).
std::vector<float> interleaved(const Audio& audio, std::int64_t begin, std::int64_t end);

}  // namespace ubique::io
