// SPDX-License-Identifier: Apache-2.0
// Synthetic music: the same for one seed, described by its texts, held-out combinations apart.
#include "ubique/data/music/synth.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ubique/base/error.h"

using namespace ubique;

TEST_CASE("synthetic music: one seed gives one series, another seed another") {
  for (std::uint64_t i = 0; i < 50; ++i) {
    CHECK(data::music_piece(Random(1), i) == data::music_piece(Random(1), i));
  }
  int same = 0;
  for (std::uint64_t i = 0; i < 50; ++i) {
    same += static_cast<int>(data::music_piece(Random(1), i) == data::music_piece(Random(2), i));
  }
  CHECK(same < 5);
}

TEST_CASE("synthetic music: tags and lyrics tell the whole piece") {
  for (std::uint64_t i = 0; i < 300; ++i) {
    const auto piece = data::music_piece(Random(3), i);
    const auto read = data::parse_music(data::music_tags(piece), data::music_lyrics(piece));
    REQUIRE(read.has_value());
    CHECK(*read == piece);
  }
  const data::MusicPiece piece{.root = 1,
                               .mode = data::ChordMode::Minor,
                               .timbre = data::Timbre::Saw,
                               .tempo = 120,
                               .pan = data::Pan::Left,
                               .melody = {0, 2, 4}};
  CHECK(data::music_tags(piece) == "c# minor, saw, 120 bpm, left");
  CHECK(data::music_lyrics(piece) == "[verse]\ndo mi so");
  CHECK(data::parse_music("120 bpm, saw, c# minor", "do")->root == 1);  // in any order
  CHECK_FALSE(data::parse_music("c# minor, saw", "do").has_value());
  CHECK_FALSE(data::parse_music("h minor, saw, 120 bpm", "do").has_value());
}

TEST_CASE("synthetic music: a tenth of the combinations is held out, none of it is in training") {
  int held_out = 0, all = 0;
  for (int root = 0; root < data::kPitchClasses; ++root) {
    for (const auto mode : data::kChordModes) {
      for (const auto timbre : data::kTimbres) {
        for (const int tempo : data::kTempos) {
          held_out += static_cast<int>(data::is_held_out({root, mode, timbre, tempo}));
          ++all;
        }
      }
    }
  }
  CHECK(all == 432);
  CHECK(held_out > 30);
  CHECK(held_out < 60);
  for (std::uint64_t i = 0; i < 500; ++i) {
    CHECK_FALSE(data::is_held_out(data::music_piece(Random(4), i)));
    CHECK(data::is_held_out(data::music_piece(Random(4), i, {.split = data::MusicSplit::HeldOut})));
  }
}

TEST_CASE("synthetic music: every combination of training occurs") {
  std::set<std::string> tags;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    auto piece = data::music_piece(Random(5), i);
    piece.pan = data::Pan::Centre;
    tags.insert(data::music_tags(piece));
  }
  CHECK(tags.size() > 432 - 60);
}

TEST_CASE("synthetic music: a part of a piece is that part of the whole, and nothing clips") {
  for (std::uint64_t i = 0; i < 24; ++i) {
    const auto piece = data::music_piece(Random(6), i);
    const auto whole = data::play_music(piece, 131'072);
    const auto part = data::play_music(piece, 10'000, 50'000);
    REQUIRE(part.frames() == 10'000);
    for (int channel = 0; channel < 2; ++channel) {
      const auto expected = whole.channel(channel).subspan(50'000, 10'000);
      CHECK(std::ranges::equal(part.channel(channel), expected));
    }
    const auto loudest =
        std::ranges::max(whole.samples, {}, [](float value) { return std::abs(value); });
    CHECK(std::abs(loudest) < 0.99F);
    CHECK(std::abs(loudest) > 0.1F);
  }
}

TEST_CASE("synthetic music: sustained notes repeat with every hop of the spectrogram") {
  const data::MusicPiece piece{.root = 9, .timbre = data::Timbre::Saw, .tempo = 60, .melody = {4}};
  const auto audio = data::play_music(piece, 20'000);
  const auto wave = audio.channel(0);
  for (std::size_t i = 5'000; i < 15'000; ++i) CHECK(wave[i] == doctest::Approx(wave[i + 512]));
}

TEST_CASE("synthetic music: impossible pieces are refused") {
  CHECK_THROWS_AS(data::play_music({.melody = {}}, 1000), Error);
  CHECK_THROWS_AS(data::parse_timbre("banjo"), Error);
  CHECK_THROWS_AS(
      data::music_piece(Random(1), 0,
                        {.split = data::MusicSplit::HeldOut, .timbre = data::Timbre::Organ}),
      Error);
}
