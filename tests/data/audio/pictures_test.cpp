// SPDX-License-Identifier: Apache-2.0
// Pictures of sounds: light is where the sound is.
#include "ubique/data/audio/pictures.h"

#include "tests/data/audio/audio_goldens.h"
#include "ubique/base/error.h"

using namespace ubique;

namespace {

int brightness(const io::Picture& picture, int x, int y) {
  const auto at = static_cast<std::size_t>(3 * (y * picture.width + x));
  return picture.pixels[at] + picture.pixels[at + 1] + picture.pixels[at + 2];
}

}  // namespace

TEST_CASE("pictures: a wave fills its lane as far as it is loud") {
  io::Audio audio{8000, 2, {}};
  for (int t = 0; t < 16000; ++t) {
    const float level = t < 8000 ? 1.F : (t < 12000 ? 0.F : 0.5F);  // right: silent, then half
    audio.samples.push_back(level * (t % 2 == 0 ? 1.F : -1.F));
  }
  const auto picture = data::draw_wave(audio, 100, 80);
  CHECK(picture.pixels.size() == 3 * 100 * 80);
  const int paper = brightness(picture, 10, 42);
  CHECK(brightness(picture, 10, 1) > paper);  // left, loud: to the edge
  CHECK(brightness(picture, 10, 38) > paper);
  CHECK(brightness(picture, 80, 60) > paper);  // right, later: the middle only
  CHECK(brightness(picture, 80, 42) == paper);
}

TEST_CASE("pictures: a rising tone rises from left to right") {
  auto low = test::sine(44100, 1, 300, 0.5, 0.5);
  const auto high = test::sine(44100, 1, 6000, 0.5, 0.5);
  low.samples.insert(low.samples.end(), high.samples.begin(), high.samples.end());
  const auto picture = data::draw_spectrogram(low, 60, 64);
  const auto lightest_row = [&](int x) {
    int best = 0;
    for (int y = 0; y < 64; ++y) {
      if (brightness(picture, x, y) > brightness(picture, x, best)) best = y;
    }
    return best;
  };
  CHECK(lightest_row(15) > 45);
  CHECK(lightest_row(45) < 30);
}

TEST_CASE("pictures: nothing, silence and odd sizes") {
  CHECK(data::draw_wave({8000, 1, {}}, 4, 3).pixels.size() == 36);
  CHECK(brightness(data::draw_spectrogram(io::Audio{8000, 1, {0.F}}, 4, 4), 1, 1) < 20);
  CHECK(data::draw_spectrogram(test::sine(8000, 2, 440, 0.5, 1), 3, 200).height == 200);
  CHECK_THROWS_AS((void)data::draw_wave({8000, 1, {0.F}}, 0, 10), Error);
  CHECK(io::png_bytes(data::draw_wave(test::sine(8000, 2, 440, 0.5, 1))).starts_with("\x89PNG"));
}
