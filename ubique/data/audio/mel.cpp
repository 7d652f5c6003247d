// SPDX-License-Identifier: Apache-2.0
// Bands hold only their bins that are not zero; a minute of stereo takes a fraction of a second.
#include "ubique/data/audio/mel.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "ubique/base/error.h"

namespace ubique::data {
namespace {

constexpr float kMagnitudeFloor = 1e-6F, kBandFloor = 1e-5F;

// Slaney's scale: linear up to 1 kHz, logarithmic above.
constexpr double kLinearStep = 200.0 / 3, kBreakHz = 1'000, kBreakMel = kBreakHz / kLinearStep;

double log_step() { return std::log(6.4) / 27; }

double mel_of(double hz) {
  return hz < kBreakHz ? hz / kLinearStep : kBreakMel + std::log(hz / kBreakHz) / log_step();
}

double hz_of(double mel) {
  return mel < kBreakMel ? mel * kLinearStep : kBreakHz * std::exp((mel - kBreakMel) * log_step());
}

}  // namespace

MelSpectrogram::MelSpectrogram(MelConfig config)
    : config_(config), fft_(static_cast<std::size_t>(std::max(config.window, 0))) {
  check(config.hop > 0 && config.hop <= config.window && config.bands > 0 && config.lowest >= 0 &&
            config.lowest < config.highest && config.highest <= config.rate / 2.0,
        ErrorKind::Input,
        "[data.audio] a mel spectrogram cannot be made so; got window {}, hop {}, {} bands from {} "
        "to {} Hz at {} Hz.",
        config.window, config.hop, config.bands, config.lowest, config.highest, config.rate);
  for (int i = 0; i < config.window; ++i) {
    window_.push_back(
        static_cast<float>(0.5 - 0.5 * std::cos(2 * std::numbers::pi * i / config.window)));
  }
  make_bands();
}

void MelSpectrogram::make_bands() {
  const int count = config_.bands;
  std::vector<double> edges;  // Hz, evenly spaced in mel
  const double low = mel_of(config_.lowest), high = mel_of(config_.highest);
  for (int i = 0; i < count + 2; ++i) edges.push_back(hz_of(low + (high - low) * i / (count + 1)));
  const double bin_hz = static_cast<double>(config_.rate) / config_.window;
  for (std::size_t b = 0; b < static_cast<std::size_t>(count); ++b) {
    Band band;
    const double scale = 2 / (edges[b + 2] - edges[b]);  // Slaney's norm: equal area
    band.first = static_cast<int>(std::floor(edges[b] / bin_hz)) + 1;
    for (int k = band.first; k * bin_hz < edges[b + 2] && k <= config_.window / 2; ++k) {
      const double hz = k * bin_hz;
      const double rising = (hz - edges[b]) / (edges[b + 1] - edges[b]);
      const double falling = (edges[b + 2] - hz) / (edges[b + 2] - edges[b + 1]);
      band.weights.push_back(static_cast<float>(scale * std::max(0.0, std::min(rising, falling))));
    }
    bands_.push_back(std::move(band));
  }
}

std::int64_t MelSpectrogram::frames(std::int64_t samples) const {
  const auto pad = (config_.window - config_.hop) / 2;
  check(samples > pad, ErrorKind::Input,
        "[data.audio] the sound is too short for a spectrogram; got {} samples, expected at least "
        "{}. Add silence.",
        samples, pad + 1);
  return std::max<std::int64_t>(0, samples + 2 * pad - config_.window) / config_.hop +
         (samples + 2 * pad >= config_.window ? 1 : 0);
}

template <typename Take>
void MelSpectrogram::for_each_frame(std::span<const float> wave, const Take& take) {
  const auto size = static_cast<std::int64_t>(wave.size());
  const auto count = frames(size);
  const std::int64_t pad = (config_.window - config_.hop) / 2;
  std::vector<float> values(window_.size());
  std::vector<std::complex<float>> bins(window_.size() / 2 + 1);
  std::vector<float> magnitudes(bins.size());
  for (std::int64_t frame = 0; frame < count; ++frame) {
    const auto start = frame * config_.hop - pad;
    for (std::size_t i = 0; i < values.size(); ++i) {
      auto at = start + static_cast<std::int64_t>(i);
      if (at < 0) at = -at;  // mirrored, without the sample at the edge
      if (at >= size) at = 2 * (size - 1) - at;
      values[i] = wave[static_cast<std::size_t>(at)] * window_[i];
    }
    fft_.transform(values, bins);
    for (std::size_t k = 0; k < bins.size(); ++k) {
      magnitudes[k] = std::sqrt(std::norm(bins[k]) + kMagnitudeFloor);
    }
    take(static_cast<std::size_t>(frame), std::span<const float>(magnitudes));
  }
}

Spectrogram MelSpectrogram::magnitudes(std::span<const float> wave) {
  const auto count = frames(static_cast<std::int64_t>(wave.size()));
  const auto rows = window_.size() / 2 + 1;
  Spectrogram out{static_cast<std::int64_t>(rows), count, {}};
  out.values.resize(rows * static_cast<std::size_t>(count));
  for_each_frame(wave, [&](std::size_t frame, std::span<const float> magnitudes) {
    for (std::size_t k = 0; k < rows; ++k) {
      out.values[k * static_cast<std::size_t>(count) + frame] = magnitudes[k];
    }
  });
  return out;
}

Spectrogram MelSpectrogram::log_mel(std::span<const float> wave) {
  const auto count = frames(static_cast<std::int64_t>(wave.size()));
  Spectrogram out{config_.bands, count, {}};
  out.values.resize(bands_.size() * static_cast<std::size_t>(count));
  for_each_frame(wave, [&](std::size_t frame, std::span<const float> magnitudes) {
    for (std::size_t b = 0; b < bands_.size(); ++b) {
      const auto* from = magnitudes.data() + bands_[b].first;
      float sum = 0;
      for (std::size_t k = 0; k < bands_[b].weights.size(); ++k) {
        sum += bands_[b].weights[k] * from[k];
      }
      out.values[b * static_cast<std::size_t>(count) + frame] = std::log(std::max(sum, kBandFloor));
    }
  });
  return out;
}

}  // namespace ubique::data
