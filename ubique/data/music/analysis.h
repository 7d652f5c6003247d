// SPDX-License-Identifier: Apache-2.0
// Hears what a piece is: root and mode of its chord, timbre, tempo, melody. Made for music as
// data/music/synth.h has it (one chord, a note on every beat), whoever played it.
#pragma once

#include <array>
#include <vector>

#include "ubique/data/music/synth.h"

namespace ubique::data {

struct MusicHeard {
  bool silent = false;  ///< nothing else is meaningful then
  int root = 0;         ///< pitch class
  ChordMode mode = ChordMode::None;
  Timbre timbre = Timbre::Sine;
  double tempo = 0;         ///< beats per minute; 0: no beat was found
  std::vector<int> melody;  ///< degree of the scale on each beat; -1: none of them
  Pan pan = Pan::Centre;

  // What the verdicts were taken from.
  std::array<double, kPitchClasses> chroma = {};  ///< of the chord, the largest is 1
  double even = 0, odd = 0;  ///< second and third partial of the melody, as shares of the first
  double sustain = 0;        ///< energy late in the beats as a share of that early in them
};

/// Of the first minute. Input error for less than half a second.
MusicHeard hear_music(const io::Audio& audio);

/// Which parts of a piece were heard as they were meant.
struct MusicMatch {
  bool root = false, mode = false, timbre = false, tempo = false, pan = false;
  int notes = 0, right_notes = 0;  ///< of the melody

  bool chord() const { return root && mode; }
};

/// A tempo counts if it is within 6 %.
MusicMatch match_music(const MusicPiece& meant, const MusicHeard& heard);

/// Shares of pieces.
struct MusicScores {
  int pieces = 0;
  double chord = 0, root = 0, timbre = 0, tempo = 0, pan = 0, notes = 0;
};

class MusicCounter {
 public:
  void add(const MusicMatch& match);
  MusicScores scores() const;

 private:
  std::vector<MusicMatch> matches_;
};

}  // namespace ubique::data
