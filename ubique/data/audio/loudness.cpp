// SPDX-License-Identifier: Apache-2.0
// The two filters of the standard are given there for 48 kHz only; their analogue form, from which
// those numbers come, gives them for every rate.
#include "ubique/data/audio/loudness.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "ubique/data/audio/resample.h"

namespace ubique::data {
namespace {

constexpr double kSilence = -std::numeric_limits<double>::infinity();
constexpr double kAbsoluteGate = -70, kRelativeGate = -10;  // LUFS and LU

/// A second-order filter; b and a divided by a[0].
struct Biquad {
  double b0, b1, b2, a1, a2;
};

/// Head and ears: a shelf of 4 dB above 1.7 kHz.
Biquad shelf_filter(double rate) {
  const double k = std::tan(std::numbers::pi * 1681.974450955533 / rate);
  const double q = 0.7071752369554196, high = std::pow(10, 3.999843853973347 / 20);
  const double band = std::pow(high, 0.4996667741545416);
  const double a0 = 1 + k / q + k * k;
  return {(high + band * k / q + k * k) / a0, 2 * (k * k - high) / a0,
          (high - band * k / q + k * k) / a0, 2 * (k * k - 1) / a0, (1 - k / q + k * k) / a0};
}

/// The low end: a high-pass at 38 Hz.
Biquad high_pass_filter(double rate) {
  const double k = std::tan(std::numbers::pi * 38.13547087602444 / rate);
  const double q = 0.5003270373238773;
  const double a0 = 1 + k / q + k * k;
  return {1, -2, 1, 2 * (k * k - 1) / a0, (1 - k / q + k * k) / a0};
}

void filter(std::vector<double>& wave, const Biquad& f) {
  double s1 = 0, s2 = 0;
  for (auto& value : wave) {
    const double in = value;
    value = f.b0 * in + s1;
    s1 = f.b1 * in - f.a1 * value + s2;
    s2 = f.b2 * in - f.a2 * value;
  }
}

/// Sum over channels of the mean square of each block of 0.4 s; one begins every 0.1 s.
std::vector<double> block_powers(const io::Audio& audio) {
  const auto quarter = static_cast<std::size_t>(std::lround(0.1 * audio.rate));
  const auto quarters = static_cast<std::size_t>(audio.frames()) / quarter;
  if (quarters < 4) return {};
  std::vector<double> energies(quarters);
  for (int c = 0; c < audio.channels; ++c) {
    const auto channel = audio.channel(c);
    std::vector<double> wave(channel.begin(), channel.end());
    filter(wave, shelf_filter(audio.rate));
    filter(wave, high_pass_filter(audio.rate));
    for (std::size_t i = 0; i < quarters * quarter; ++i) energies[i / quarter] += wave[i] * wave[i];
  }
  std::vector<double> powers;
  for (std::size_t i = 0; i + 4 <= quarters; ++i) {
    powers.push_back((energies[i] + energies[i + 1] + energies[i + 2] + energies[i + 3]) /
                     static_cast<double>(4 * quarter));
  }
  return powers;
}

double loudness_of(double power) { return power > 0 ? -0.691 + 10 * std::log10(power) : kSilence; }

/// The mean of the powers above a loudness; 0 if there are none.
double mean_above(const std::vector<double>& powers, double gate) {
  double sum = 0;
  std::size_t count = 0;
  for (const double power : powers) {
    if (loudness_of(power) <= gate) continue;
    sum += power;
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

float largest(std::span<const float> values) {
  float peak = 0;
  for (const float value : values) peak = std::max(peak, std::abs(value));
  return peak;
}

}  // namespace

double integrated_loudness(const io::Audio& audio) {
  const auto powers = block_powers(audio);
  const double first = loudness_of(mean_above(powers, kAbsoluteGate));
  return loudness_of(mean_above(powers, std::max(kAbsoluteGate, first + kRelativeGate)));
}

float sample_peak(const io::Audio& audio) { return largest(audio.samples); }

float true_peak(const io::Audio& audio) {
  float peak = sample_peak(audio);
  if (audio.rate > io::kHighestRate / 4) return peak;
  const RateConverter converter(audio.rate, 4 * audio.rate);
  for (int c = 0; c < audio.channels; ++c) {
    peak = std::max(peak, largest(converter.convert(audio.channel(c))));
  }
  return peak;
}

double decibels(double amplitude) { return amplitude > 0 ? 20 * std::log10(amplitude) : kSilence; }

double normalize_loudness(io::Audio& audio, double lufs, double ceiling) {
  const double now = integrated_loudness(audio);
  if (now == kSilence) return 0;
  const double gain = std::min(lufs - now, ceiling - decibels(true_peak(audio)));
  const auto factor = static_cast<float>(std::pow(10, gain / 20));
  for (auto& sample : audio.samples) sample *= factor;
  return gain;
}

void fade(io::Audio& audio, double in_seconds, double out_seconds) {
  const auto frames = audio.frames();
  const auto length = [&](double seconds) {
    return std::min<std::int64_t>(frames / 2, std::llround(std::max(0.0, seconds) * audio.rate));
  };
  const auto weight = [](std::int64_t t, std::int64_t count) {
    return static_cast<float>(0.5 -
                              0.5 * std::cos(std::numbers::pi * (static_cast<double>(t) + 0.5) /
                                             static_cast<double>(count)));
  };
  const auto in = length(in_seconds), out = length(out_seconds);
  for (int c = 0; c < audio.channels; ++c) {
    auto channel = audio.channel(c);
    for (std::int64_t t = 0; t < in; ++t) channel[static_cast<std::size_t>(t)] *= weight(t, in);
    for (std::int64_t t = 0; t < out; ++t) {
      channel[static_cast<std::size_t>(frames - 1 - t)] *= weight(t, out);
    }
  }
}

}  // namespace ubique::data
