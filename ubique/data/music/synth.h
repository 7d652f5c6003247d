// SPDX-License-Identifier: Apache-2.0
// Synthetic music with known tags and lyrics: a chord and a melody note on every beat. Endless, and
// the same for one seed everywhere. All pitches are overtones of one tone whose period is a frame
// of the vocoder's spectrogram, see docs/why/synthetic-music.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/numbers/random.h"
#include "ubique/io/audio/audio.h"

namespace ubique::data {

/// What the chord has beside its root and fifth.
enum class ChordMode { Major, Minor, None };
enum class Timbre { Sine, Saw, Square, Pluck, Organ };
enum class Pan { Left, Centre, Right };

inline constexpr int kMusicRate = 44'100;
inline constexpr int kPitchClasses = 12;
inline constexpr std::array<int, 3> kTempos = {60, 90, 120};
inline constexpr std::array<ChordMode, 3> kChordModes = {ChordMode::Major, ChordMode::Minor,
                                                         ChordMode::None};
/// Organ is left out: a style that is taught later.
inline constexpr std::array<Timbre, 4> kTimbres = {Timbre::Sine, Timbre::Saw, Timbre::Square,
                                                   Timbre::Pluck};
/// Of A: the pitches are overtones of 44,100 / 512 Hz, 24 cents below those of an A of 440 Hz.
inline constexpr double kMusicTuning = 434.07;

std::string_view to_string(ChordMode mode);    ///< "major", "minor", "open"
std::string_view to_string(Timbre timbre);     ///< "sine", ...
Timbre parse_timbre(std::string_view text);    ///< Usage error that lists the names
std::string_view pitch_name(int pitch_class);  ///< "c", "c#", ... of 0 to 11
std::string_view syllable(int degree);         ///< "do", "re", ... of 0 to 6

/// Semitones above the root of a degree of the scale, 0 to 6. Open chords have the major scale.
int semitones_of(ChordMode mode, int degree);

struct MusicPiece {
  int root = 0;  ///< pitch class, 0 = c
  ChordMode mode = ChordMode::Major;
  Timbre timbre = Timbre::Sine;
  int tempo = 60;  ///< beats per minute
  Pan pan = Pan::Centre;
  std::vector<int> melody = {};  ///< degree of the scale on each beat, repeated if it is too short

  bool operator==(const MusicPiece&) const = default;
};

/// "c# minor, saw, 120 bpm, left"; nothing is said of the centre.
std::string music_tags(const MusicPiece& piece);
/// "[verse]\ndo mi so": the melody.
std::string music_lyrics(const MusicPiece& piece);

/// The piece that tags and lyrics of this form describe; nothing for other texts. Lyrics without
/// syllables: a melody of `do`.
std::optional<MusicPiece> parse_music(std::string_view tags, std::string_view lyrics);

/// A tenth of all combinations of root, mode, timbre and tempo is never trained on: which ones is
/// part of the definition of this music.
bool is_held_out(const MusicPiece& piece);

enum class MusicSplit { Train, HeldOut };

struct MusicOptions {
  MusicSplit split = MusicSplit::Train;
  double seconds = 3;
  std::optional<Timbre> timbre = {};  ///< only this one; organ has no held-out combinations
};

/// Piece `index` of an endless series.
MusicPiece music_piece(const Random& random, std::uint64_t index, const MusicOptions& options = {});

/// `samples` of the piece from sample `begin` on, stereo at 44,100 Hz.
io::Audio play_music(const MusicPiece& piece, std::int64_t samples, std::int64_t begin = 0);

/// Frequency of a pitch class in the octave of the chords, in Hz; melodies are an octave above.
double music_frequency(int pitch_class);
/// Beats that begin within so many samples.
std::int64_t beats_within(int tempo, std::int64_t samples);

}  // namespace ubique::data
