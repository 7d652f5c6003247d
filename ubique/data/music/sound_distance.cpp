// SPDX-License-Identifier: Apache-2.0
// Spectrograms of both sounds, compared over the length that both have.
#include "ubique/data/music/sound_distance.h"

#include <algorithm>
#include <cmath>

#include "ubique/base/error.h"
#include "ubique/data/audio/mel.h"

namespace ubique::data {
namespace {

std::span<const float> common_part(const io::Audio& sound, int channel, std::int64_t frames) {
  return sound.channel(channel).first(static_cast<std::size_t>(frames));
}

std::int64_t common_frames(const io::Audio& a, const io::Audio& b) {
  check(a.rate == b.rate && a.channels == b.channels, ErrorKind::Internal,
        "[data.music] sounds of {} Hz, {} channels and {} Hz, {} channels cannot be compared.",
        a.rate, a.channels, b.rate, b.channels);
  return std::min(a.frames(), b.frames());
}

double mean_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(static_cast<double>(a[i]) - b[i]);
  return a.empty() ? 0 : sum / static_cast<double>(a.size());
}

/// Of one channel at one resolution.
double magnitude_distance(const std::vector<float>& wanted, const std::vector<float>& got) {
  double difference = 0, norm = 0, logs = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double a = wanted[i], b = got[i];
    difference += (a - b) * (a - b);
    norm += a * a;
    logs += std::abs(std::log(a) - std::log(b));
  }
  return std::sqrt(difference / norm) + logs / static_cast<double>(wanted.size());
}

}  // namespace

double log_mel_distance(const io::Audio& wanted, const io::Audio& got) {
  const auto frames = common_frames(wanted, got);
  MelSpectrogram mel;
  double sum = 0;
  for (int c = 0; c < wanted.channels; ++c) {
    sum += mean_difference(mel.log_mel(common_part(wanted, c, frames)).values,
                           mel.log_mel(common_part(got, c, frames)).values);
  }
  return sum / wanted.channels;
}

double spectral_distance(const io::Audio& wanted, const io::Audio& got) {
  const auto frames = common_frames(wanted, got);
  double sum = 0;
  int count = 0;
  for (const int window : {512, 1024, 2048}) {
    MelSpectrogram spectrum({.window = window, .hop = window / 4, .bands = 16});
    for (int c = 0; c < wanted.channels; ++c, ++count) {
      sum += magnitude_distance(spectrum.magnitudes(common_part(wanted, c, frames)).values,
                                spectrum.magnitudes(common_part(got, c, frames)).values);
    }
  }
  return sum / count;
}

}  // namespace ubique::data
