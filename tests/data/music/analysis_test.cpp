// SPDX-License-Identifier: Apache-2.0
// What is heard in clean synthetic music is what was played.
#include "ubique/data/music/analysis.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "ubique/base/error.h"
#include "ubique/data/audio/resample.h"

using namespace ubique;

namespace {

constexpr std::int64_t kThreeSeconds = 131'072;

data::MusicScores scores_of(int pieces, const data::MusicOptions& options, int rate) {
  data::MusicCounter counter;
  for (int i = 0; i < pieces; ++i) {
    const auto piece = data::music_piece(Random(7), static_cast<std::uint64_t>(i), options);
    const auto audio = data::resampled(data::play_music(piece, kThreeSeconds), rate);
    const auto heard = data::hear_music(audio);
    counter.add(data::match_music(piece, heard));
  }
  return counter.scores();
}

}  // namespace

TEST_CASE("analysis of music: clean pieces are heard as they were meant") {
  for (const auto split : {data::MusicSplit::Train, data::MusicSplit::HeldOut}) {
    const auto scores = scores_of(100, {.split = split}, data::kMusicRate);
    CHECK(scores.pieces == 100);
    CHECK(scores.chord >= 0.99);
    CHECK(scores.timbre >= 0.99);
    CHECK(scores.tempo >= 0.99);
    CHECK(scores.pan >= 0.99);
    CHECK(scores.notes >= 0.97);
  }
}

TEST_CASE("analysis of music: at 48 kHz, as songs are written") {
  const auto scores = scores_of(30, {}, 48'000);
  CHECK(scores.chord >= 0.99);
  CHECK(scores.timbre >= 0.99);
  CHECK(scores.tempo >= 0.99);
}

TEST_CASE("analysis of music: an organ is none of the four timbres of training") {
  CHECK(scores_of(30, {.timbre = data::Timbre::Organ}, data::kMusicRate).timbre >= 0.95);
}

TEST_CASE("analysis of music: against the texts of other pieces it is right by chance only") {
  data::MusicCounter counter;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const auto audio = data::play_music(data::music_piece(Random(8), i), kThreeSeconds);
    const auto other = data::music_piece(Random(8), i + 1000);
    counter.add(data::match_music(other, data::hear_music(audio)));
  }
  const auto scores = counter.scores();
  CHECK(scores.chord < 0.12);  // chance: 1 of 36
  CHECK(scores.timbre < 0.45);
  CHECK(scores.tempo < 0.55);
}

TEST_CASE("analysis of music: silence, noise and short sounds") {
  io::Audio silence{.rate = 44'100, .channels = 2, .samples = std::vector<float>(88'200, 0.0F)};
  CHECK(data::hear_music(silence).silent);
  CHECK_FALSE(data::match_music(data::music_piece(Random(1), 0), data::hear_music(silence)).root);
  io::Audio noise{.rate = 44'100, .channels = 1, .samples = std::vector<float>(88'200)};
  Random(1).fill_normal(noise.samples, 0, 0.1F);
  CHECK_FALSE(data::hear_music(noise).silent);  // some verdict, no crash
  noise.samples.resize(10'000);
  CHECK_THROWS_AS(data::hear_music(noise), Error);
}
