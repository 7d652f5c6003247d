// SPDX-License-Identifier: Apache-2.0
// Pieces as tags and lyrics, and back.
#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/data/music/synth.h"

namespace ubique::data {
namespace {

constexpr std::array<std::string_view, kPitchClasses> kPitchNames = {
    "c", "c#", "d", "d#", "e", "f", "f#", "g", "g#", "a", "a#", "b"};
constexpr std::array<std::string_view, 7> kSyllables = {"do", "re", "mi", "fa", "so", "la", "ti"};

constexpr std::array kAllTimbres = {Timbre::Sine, Timbre::Saw, Timbre::Square, Timbre::Pluck,
                                    Timbre::Organ};

/// What has been found among the tags.
struct FoundTags {
  bool chord = false, timbre = false, tempo = false;
};

void take_chord(std::string_view tag, MusicPiece& piece, FoundTags& found) {
  for (int root = 0; root < kPitchClasses; ++root) {
    for (const auto mode : kChordModes) {
      if (tag != fmt::format("{} {}", pitch_name(root), to_string(mode))) continue;
      piece.root = root;
      piece.mode = mode;
      found.chord = true;
    }
  }
}

void take_tag(std::string_view tag, MusicPiece& piece, FoundTags& found) {
  take_chord(tag, piece, found);
  for (const auto timbre : kAllTimbres) {
    if (tag != to_string(timbre)) continue;
    piece.timbre = timbre;
    found.timbre = true;
  }
  for (const int tempo : kTempos) {
    if (tag != fmt::format("{} bpm", tempo)) continue;
    piece.tempo = tempo;
    found.tempo = true;
  }
  if (tag == "left") piece.pan = Pan::Left;
  if (tag == "right") piece.pan = Pan::Right;
}

}  // namespace

std::string_view to_string(ChordMode mode) {
  switch (mode) {
    case ChordMode::Major:
      return "major";
    case ChordMode::Minor:
      return "minor";
    case ChordMode::None:
      return "open";
  }
  return "";
}

std::string_view to_string(Timbre timbre) {
  switch (timbre) {
    case Timbre::Sine:
      return "sine";
    case Timbre::Saw:
      return "saw";
    case Timbre::Square:
      return "square";
    case Timbre::Pluck:
      return "pluck";
    case Timbre::Organ:
      return "organ";
  }
  return "";
}

Timbre parse_timbre(std::string_view text) {
  for (const auto timbre : kAllTimbres) {
    if (text == to_string(timbre)) return timbre;
  }
  fail(ErrorKind::Usage,
       "[data.music] unknown timbre; got '{}', expected sine, saw, square, pluck or organ.",
       printable(std::string(text), 40));
}

std::string_view pitch_name(int pitch_class) {
  return kPitchNames[static_cast<std::size_t>(pitch_class)];
}

std::string_view syllable(int degree) { return kSyllables[static_cast<std::size_t>(degree)]; }

std::string music_tags(const MusicPiece& piece) {
  auto tags = fmt::format("{} {}, {}, {} bpm", pitch_name(piece.root), to_string(piece.mode),
                          to_string(piece.timbre), piece.tempo);
  if (piece.pan == Pan::Left) tags += ", left";
  if (piece.pan == Pan::Right) tags += ", right";
  return tags;
}

std::string music_lyrics(const MusicPiece& piece) {
  std::string lyrics = "[verse]\n";
  for (std::size_t i = 0; i < piece.melody.size(); ++i) {
    lyrics += fmt::format("{}{}", i == 0 ? "" : " ", syllable(piece.melody[i]));
  }
  return lyrics;
}

std::optional<MusicPiece> parse_music(std::string_view tags, std::string_view lyrics) {
  MusicPiece piece;
  FoundTags found;
  for (const auto& tag : split(tags, ',')) take_tag(tag, piece, found);
  if (!found.chord || !found.timbre || !found.tempo) return std::nullopt;
  std::string words(lyrics);
  std::ranges::replace(words, '\n', ' ');
  for (const auto& word : split(words, ' ')) {
    const auto note = std::ranges::find(kSyllables, word);
    if (note != kSyllables.end()) {
      piece.melody.push_back(static_cast<int>(note - kSyllables.begin()));
    }
  }
  if (piece.melody.empty()) piece.melody = {0};
  return piece;
}

}  // namespace ubique::data
