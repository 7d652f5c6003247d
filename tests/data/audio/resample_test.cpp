// SPDX-License-Identifier: Apache-2.0
// The rate converter against torchaudio's numbers, and against what a sine must become.
#include "ubique/data/audio/resample.h"

#include "tests/data/audio/audio_goldens.h"
#include "ubique/base/error.h"

using namespace ubique;

TEST_CASE("resample: the same samples as torchaudio's, for every golden pair of rates") {
  const auto folder = test::shared_folder("golden/acestep/audio");
  if (folder.empty()) return;
  const io::SafetensorsFile file(folder / "resample.safetensors");
  const std::array<std::array<int, 3>, 6> cases = {{{16000, 44100, 500},
                                                    {44100, 48000, 2205},
                                                    {48000, 16000, 1000},
                                                    {48000, 24000, 1000},
                                                    {48000, 44100, 1601},
                                                    {48000, 44100, 2400}}};
  for (const auto& [from, to, size] : cases) {
    const auto name = fmt::format("{}.{}.{}", from, to, size);
    CAPTURE(name);
    const auto wave = test::audio_golden<float>(file, "in." + name);
    const auto golden = test::audio_golden<float>(file, "out." + name);
    const data::RateConverter converter(from, to);
    REQUIRE(2 * converter.length(size) == static_cast<std::int64_t>(golden.size()));
    for (std::size_t c = 0; c < 2; ++c) {
      const auto out =
          converter.convert(std::span(wave).subspan(c * wave.size() / 2, wave.size() / 2));
      CHECK(test::farthest(out, golden, c * out.size()) < 1e-6);
    }
  }
}

TEST_CASE("resample: four phases of the kernel from 48 to 44.1 kHz are torchaudio's") {
  const auto folder = test::shared_folder("golden/acestep/audio");
  if (folder.empty()) return;
  const io::SafetensorsFile file(folder / "resample.safetensors");
  const auto golden = test::audio_golden<float>(file, "kernel.48000.44100.phases_0_1_73_146");
  const data::RateConverter converter(48000, 44100);
  const std::array<std::int64_t, 4> phases = {0, 1, 73, 146};
  for (std::size_t i = 0; i < phases.size(); ++i) {
    std::vector<float> whole(174 + 14);  // input frames -7 to 166, and some room
    const auto weights = converter.weights(phases[i]);
    for (std::size_t tap = 0; tap < weights.size(); ++tap) {
      whole.at(static_cast<std::size_t>(converter.first(phases[i]) + 7) + tap) = weights[tap];
    }
    CHECK(test::farthest(std::span(whole).first(174), golden, 174 * i) < 1e-7);
  }
}

TEST_CASE("resample: a sine stays that sine at odd pairs of rates, and what cannot be kept goes") {
  for (const auto& [from, to] : {std::pair{44100, 48001}, {8000, 44100}, {96000, 11025}}) {
    const auto in = test::sine(from, 1, 440, 0.5, 0.5);
    const auto out = data::resampled(in, to);
    CHECK(out.frames() == (in.frames() * to + from - 1) / from);
    const auto expected = test::sine(to, 1, 440, 0.5, 0.5);
    double largest = 0;
    for (std::size_t t = 500; t + 500 < expected.samples.size(); ++t) {
      largest =
          std::max(largest, std::abs(static_cast<double>(out.samples[t]) - expected.samples[t]));
    }
    CHECK(largest < 3e-3);
  }
  const auto high = data::resampled(test::sine(48000, 1, 9000, 0.5, 0.2), 12000);
  float peak = 0;
  for (std::size_t t = 200; t + 200 < high.samples.size(); ++t) {
    peak = std::max(peak, std::abs(high.samples[t]));
  }
  CHECK(peak < 1e-3F);
}

TEST_CASE("resample: the same rate, nothing, one sample and absurd rates") {
  const auto in = test::sine(44100, 2, 440, 0.5, 0.01);
  CHECK(data::resampled(in, 44100).samples == in.samples);
  CHECK(data::resampled({44100, 1, {}}, 48000).samples.empty());
  CHECK(data::resampled({44100, 1, {1.F}}, 48000).samples.size() == 2);
  CHECK_THROWS_AS((void)data::resampled(in, 0), Error);
  CHECK_THROWS_AS((void)data::resampled(in, 1'000'000), Error);
}

TEST_CASE("resample: mono becomes stereo and back") {
  const io::Audio mono{8000, 1, {1.F, 2.F}};
  const auto stereo = data::as_stereo(mono);
  CHECK(stereo.samples == std::vector<float>{1.F, 2.F, 1.F, 2.F});
  CHECK(data::as_mono(stereo).samples == mono.samples);
  CHECK(data::as_mono({8000, 2, {1.F, 0.F, 3.F, 2.F}}).samples == std::vector<float>{2.F, 1.F});
}

TEST_CASE("resample: a wave in pieces of any size becomes the same samples as the whole wave") {
  for (const auto& [from, to] :
       {std::pair{44100, 48000}, {48000, 44100}, {8000, 44100}, {44100, 8000}, {44100, 44100}}) {
    const auto wave = test::sine(from, 1, 440, 0.5, 0.05).samples;
    const auto whole = data::RateConverter(from, to).convert(wave);
    for (const std::size_t piece : {1U, 7U, 100U, 5000U}) {
      CAPTURE(from);
      CAPTURE(piece);
      data::RateStream stream(from, to);
      std::vector<float> joined;
      const auto take = [&](const std::vector<float>& part) {
        joined.insert(joined.end(), part.begin(), part.end());
      };
      for (std::size_t at = 0; at < wave.size(); at += piece) {
        take(stream.push(std::span(wave).subspan(at, std::min(piece, wave.size() - at))));
      }
      take(stream.finish());
      CHECK(joined == whole);
    }
  }
  data::RateStream nothing(44100, 48000);
  CHECK(nothing.finish().empty());
}
