// SPDX-License-Identifier: Apache-2.0
// The mel front end against the original's numbers, and the Fourier transform against its sum.
#include "ubique/data/audio/mel.h"

#include <complex>

#include "tests/data/audio/audio_goldens.h"
#include "ubique/base/error.h"

using namespace ubique;

TEST_CASE("fft: the same as the sum that defines it, from 4 values on") {
  for (const std::size_t size : {4U, 8U, 64U, 512U}) {
    std::vector<float> values(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = std::sin(static_cast<float>(i * i) * 0.37F);
    std::vector<std::complex<float>> out(size / 2 + 1);
    data::RealFft fft(size);
    fft.transform(values, out);
    for (std::size_t k = 0; k < out.size(); ++k) {
      std::complex<double> sum = 0;
      for (std::size_t i = 0; i < size; ++i) {
        sum += std::polar(
            static_cast<double>(values[i]),
            -2 * std::numbers::pi * static_cast<double>(i * k) / static_cast<double>(size));
      }
      CHECK(std::abs(sum - std::complex<double>(out[k])) < 1e-5 * std::sqrt(size));
    }
  }
  CHECK_THROWS_AS(data::RealFft(12), Error);
}

TEST_CASE("mel: magnitudes and log-mel are the original's") {
  const auto folder = test::shared_folder("golden/acestep/audio");
  if (folder.empty()) return;
  const io::SafetensorsFile file(folder / "mel.safetensors");
  const auto wave = test::audio_golden<float>(file, "in.wave44k");
  const auto linear = test::audio_golden<float>(file, "out.linear_first8");
  const auto golden = test::audio_golden<float>(file, "out.logmel");
  data::MelSpectrogram mel;
  for (std::size_t c = 0; c < 2; ++c) {
    const auto channel = std::span(wave).subspan(c * 22050, 22050);
    const auto log_mel = mel.log_mel(channel);
    CHECK(log_mel.rows == 128);
    CHECK(log_mel.frames == 43);
    // In bands near silence a logarithm magnifies the rounding of the loud ones, in both programs.
    double farthest = 0;
    for (std::size_t i = 0; i < log_mel.values.size(); ++i) {
      const double expected = golden[c * log_mel.values.size() + i];
      const double allowed = 2e-5 + 2e-7 / std::exp(expected);
      farthest = std::max(farthest, std::abs(log_mel.values[i] - expected) / allowed);
    }
    CHECK(farthest < 1);
    const auto magnitudes = mel.magnitudes(channel);
    std::vector<float> first8;
    for (std::size_t row = 0; row < 1025; ++row) {
      for (std::size_t t = 0; t < 8; ++t) first8.push_back(magnitudes.values[row * 43 + t]);
    }
    CHECK(test::farthest(first8, linear, c * first8.size()) < 1e-4);  // values up to 300
  }
  const auto silence = mel.log_mel(std::vector<float>(4096));
  CHECK(test::farthest(silence.values, test::audio_golden<float>(file, "out.logmel_silence")) <
        1e-5);
}

TEST_CASE("mel: bands are the original's filter bank") {
  const auto folder = test::shared_folder("golden/acestep/audio");
  if (folder.empty()) return;
  const io::SafetensorsFile file(folder / "mel.safetensors");
  const auto sums = test::audio_golden<float>(file, "mel_fb.col_sum");
  const auto counts = test::audio_golden<std::int64_t>(file, "mel_fb.nonzero_count");
  const auto peaks = test::audio_golden<std::int64_t>(file, "mel_fb.argmax");
  const data::MelSpectrogram mel;
  for (int b = 0; b < 128; ++b) {
    const auto band = mel.band(b);
    double sum = 0;
    std::int64_t count = 0, peak = 0;
    for (std::size_t k = 0; k < band.size(); ++k) {
      sum += band[k];
      count += band[k] != 0 ? 1 : 0;
      if (band[k] > band[static_cast<std::size_t>(peak)]) peak = static_cast<std::int64_t>(k);
    }
    const auto at = static_cast<std::size_t>(b);
    CHECK(sum == doctest::Approx(sums[at]).epsilon(2e-6));
    CHECK(count == counts[at]);
    CHECK(peak + mel.first_bin(b) == peaks[at]);
  }
  const auto columns = test::audio_golden<float>(file, "mel_fb.columns");
  const auto index = test::audio_golden<std::int64_t>(file, "mel_fb.columns_index");
  for (std::size_t c = 0; c < index.size(); ++c) {
    const auto band = mel.band(static_cast<int>(index[c]));
    const auto first = static_cast<std::size_t>(mel.first_bin(static_cast<int>(index[c])));
    for (std::size_t k = 0; k < 1025; ++k) {
      const float got = k >= first && k - first < band.size() ? band[k - first] : 0.F;
      CHECK(std::abs(got - columns[k * index.size() + c]) < 1e-7F);
    }
  }
}

TEST_CASE("mel: a tone is loudest in the band around it, and hops count the frames") {
  data::MelSpectrogram mel;
  const auto tone = test::sine(44100, 1, 1000, 0.5, 0.2);
  const auto out = mel.log_mel(tone.samples);
  CHECK(out.frames == tone.frames() / 512);
  CHECK(mel.frames(4096) == 8);
  std::size_t loudest = 0;
  for (std::size_t b = 0; b < 128; ++b) {
    const auto at = [&](std::size_t row) {
      return out.values[row * static_cast<std::size_t>(out.frames) + 5];
    };
    if (at(b) > at(loudest)) loudest = b;
  }
  const double bin = 1000 / (44100.0 / 2048);
  const auto first = mel.first_bin(static_cast<int>(loudest));
  CHECK(bin > first - 1);
  CHECK(bin < first + static_cast<double>(mel.band(static_cast<int>(loudest)).size()));
}

TEST_CASE("mel: too short waves and impossible settings are refused") {
  data::MelSpectrogram mel;
  CHECK_THROWS_WITH_AS((void)mel.log_mel(std::vector<float>(768)),
                       doctest::Contains("expected at least 769"), Error);
  CHECK(mel.log_mel(std::vector<float>(769)).frames == 1);
  CHECK_THROWS_AS(data::MelSpectrogram({.highest = 30'000}), Error);
  CHECK_THROWS_AS(data::MelSpectrogram({.hop = 0}), Error);
}
