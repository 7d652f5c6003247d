// SPDX-License-Identifier: Apache-2.0
// The checks that all formats share, and both orders of samples.
#include "ubique/io/audio/audio.h"

#include <cmath>

#include "ubique/base/error.h"

namespace ubique::io {

void check_layout(std::int64_t rate, std::int64_t channels, const std::string& name) {
  check(rate >= kLowestRate && rate <= kHighestRate, ErrorKind::Input,
        "[io.audio] {} has an impossible sample rate; got {} Hz, expected {} to {}.", name, rate,
        kLowestRate, kHighestRate);
  check(channels == 1 || channels == 2, ErrorKind::Input,
        "[io.audio] {} is neither mono nor stereo; got {} channels, expected 1 or 2. Mix it down "
        "first, for example with ffmpeg -i IN -ac 2 OUT.wav.",
        name, channels);
}

void check_length(std::int64_t frames, std::int64_t channels, const std::string& name) {
  check(frames <= kMostSamples / channels, ErrorKind::Input,
        "[io.audio] {} is too long; got {} frames of {} channels, expected at most {} samples. Cut "
        "it into parts.",
        name, frames, channels, kMostSamples);
}

void check_audio(const Audio& audio, const std::string& name) {
  check_layout(audio.rate, audio.channels, name);
  check(audio.samples.size() % static_cast<std::size_t>(audio.channels) == 0, ErrorKind::Internal,
        "[io.audio] the samples of {} are no whole frames; got {} of {} channels.", name,
        audio.samples.size(), audio.channels);
  check_length(audio.frames(), audio.channels, name);
  for (std::size_t i = 0; i < audio.samples.size(); ++i) {
    check(std::isfinite(audio.samples[i]), ErrorKind::Input,
          "[io.audio] {} cannot be written: sample {} is not a number.", name, i);
  }
}

std::vector<float> separated(std::span<const float> interleaved, int channels) {
  const auto count = static_cast<std::size_t>(channels);
  const auto frames = interleaved.size() / count;
  std::vector<float> out(frames * count);
  for (std::size_t c = 0; c < count; ++c) {
    for (std::size_t t = 0; t < frames; ++t) out[c * frames + t] = interleaved[t * count + c];
  }
  return out;
}

std::vector<float> interleaved(const Audio& audio, std::int64_t begin, std::int64_t end) {
  const auto count = static_cast<std::size_t>(audio.channels);
  const auto first = static_cast<std::size_t>(begin);
  const auto frames = static_cast<std::size_t>(end - begin);
  std::vector<float> out(frames * count);
  for (std::size_t c = 0; c < count; ++c) {
    const auto channel = audio.channel(static_cast<int>(c));
    for (std::size_t t = 0; t < frames; ++t) out[t * count + c] = channel[first + t];
  }
  return out;
}

}  // namespace ubique::io
