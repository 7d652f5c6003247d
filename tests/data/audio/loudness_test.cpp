// SPDX-License-Identifier: Apache-2.0
// Loudness against the signals that ITU-R BS.1770 and EBU Tech 3341 give with their readings.
#include "ubique/data/audio/loudness.h"

#include <array>
#include <complex>

#include "tests/data/audio/audio_goldens.h"

using namespace ubique;

namespace {

double amplitude(double decibels) { return std::pow(10, decibels / 20); }

/// Sines of 1 kHz one after the other: level in dBFS and seconds.
io::Audio levels(int rate, const std::vector<std::pair<double, double>>& parts) {
  io::Audio mono{rate, 1, {}};
  for (const auto& [level, seconds] : parts) {
    const auto part = test::sine(rate, 1, 1000, amplitude(level), seconds);
    mono.samples.insert(mono.samples.end(), part.samples.begin(), part.samples.end());
  }
  io::Audio stereo{rate, 2, mono.samples};
  stereo.samples.insert(stereo.samples.end(), mono.samples.begin(), mono.samples.end());
  return stereo;
}

}  // namespace

TEST_CASE("loudness: a full-scale sine of 997 Hz in one channel reads -3.01, at every rate") {
  for (const int rate : {8000, 22050, 44100, 48000, 96000, 192000}) {
    CAPTURE(rate);
    const double reading = data::integrated_loudness(test::sine(rate, 1, 997, 1, 3));
    CHECK(std::abs(reading + 3.01) < (rate < 16000 ? 0.1 : 0.03));
  }
}

TEST_CASE("loudness: the readings of EBU Tech 3341, cases 1 to 5") {
  using Parts = std::vector<std::pair<double, double>>;
  const std::pair<Parts, double> cases[] = {
      {{{-23, 20}}, -23},
      {{{-33, 20}}, -33},
      {{{-36, 10}, {-23, 60}, {-36, 10}}, -23},
      {{{-72, 10}, {-36, 10}, {-23, 60}, {-36, 10}, {-72, 10}}, -23},
      {{{-26, 20}, {-20, 20.1}, {-26, 20}}, -23},
  };
  for (const auto& [parts, reading] : cases) {
    CHECK(std::abs(data::integrated_loudness(levels(48000, parts)) - reading) < 0.1);
  }
}

TEST_CASE("loudness: the K weighting at low, middle and high tones") {
  using Row = std::array<double, 3>;  // as the standard prints them, for 48 kHz
  const Row shelf_b = {1.53512485958697, -2.69169618940638, 1.19839281085285};
  const Row shelf_a = {1, -1.69065929318241, 0.73248077421585};
  const Row pass_b = {1, -2, 1}, pass_a = {1, -1.99004745483398, 0.99007225036621};
  for (const double hz : {30.0, 50.0, 100.0, 1000.0, 3000.0, 10000.0}) {
    CAPTURE(hz);
    const auto delay = std::polar(1.0, -2 * std::numbers::pi * hz / 48000);
    const auto value = [&](const Row& row) {
      return std::abs(row[0] + row[1] * delay + row[2] * delay * delay);
    };
    const double gain = value(shelf_b) * value(pass_b) / value(shelf_a) / value(pass_a);
    const double expected = -0.691 + 20 * std::log10(gain * 0.5 / std::numbers::sqrt2);
    const double reading = data::integrated_loudness(test::sine(48000, 1, hz, 0.5, 10));
    CHECK(std::abs(reading - expected) < 0.01);
  }
}

TEST_CASE("loudness: silence and less than one block have none") {
  CHECK(std::isinf(data::integrated_loudness({48000, 2, std::vector<float>(96000)})));
  CHECK(std::isinf(data::integrated_loudness(test::sine(48000, 1, 997, 1, 0.39))));
  CHECK(std::isinf(data::integrated_loudness({48000, 1, {}})));
}

TEST_CASE("loudness: the true peak lies between the samples") {
  // A quarter of the rate, sampled at 45 degrees: every sample is 0.707 of the wave's peak.
  io::Audio audio{48000, 1, {}};
  for (int t = 0; t < 4800; ++t) {
    audio.samples.push_back(
        static_cast<float>(std::sin(std::numbers::pi / 2 * t + std::numbers::pi / 4)));
  }
  CHECK(data::sample_peak(audio) == doctest::Approx(0.7071).epsilon(1e-3));
  CHECK(std::abs(data::decibels(data::true_peak(audio))) < 0.3);
}

TEST_CASE("loudness: normalising reaches the target, or stops at the ceiling") {
  auto audio = levels(44100, {{-30, 5}});
  CHECK(data::normalize_loudness(audio, -16) == doctest::Approx(14).epsilon(0.01));
  CHECK(data::integrated_loudness(audio) == doctest::Approx(-16).epsilon(0.001));
  (void)data::normalize_loudness(audio, 20);
  CHECK(data::decibels(data::true_peak(audio)) == doctest::Approx(-1).epsilon(0.01));
  io::Audio silence{44100, 1, std::vector<float>(44100)};
  CHECK(data::normalize_loudness(silence, -16) == 0);
}

TEST_CASE("fade: begins and ends in silence, leaves the middle, and never overlaps") {
  io::Audio audio{1000, 2, std::vector<float>(2000, 1.F)};
  data::fade(audio, 0.1, 0.2);
  for (int c = 0; c < 2; ++c) {
    const auto channel = audio.channel(c);
    CHECK(channel[0] < 1e-3F);
    CHECK(channel[50] == doctest::Approx(0.5).epsilon(0.05));
    CHECK(channel[100] == 1.F);
    CHECK(channel[799] == 1.F);
    CHECK(channel[999] < 1e-3F);
  }
  io::Audio brief{1000, 1, std::vector<float>(10, 1.F)};
  data::fade(brief, 100, 100);
  CHECK(brief.samples[4] > 0.9F);
  CHECK(brief.samples[4] == brief.samples[5]);
}
