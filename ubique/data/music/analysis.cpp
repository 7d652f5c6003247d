// SPDX-License-Identifier: Apache-2.0
// Chords by templates over pitch classes, timbres by partials and decay, melodies by the loudest
// pitch above the chord.
#include "ubique/data/music/analysis.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ubique/base/error.h"
#include "ubique/data/audio/resample.h"
#include "ubique/data/music/analysis_spectra.h"

namespace ubique::data {
namespace {

constexpr double kSilence = 1e-4;  // largest sample
constexpr std::int64_t kMostSeconds = 60;
constexpr double kTempoTolerance = 0.06;
// Chords lie below the melody, which is an octave higher; their border in Hz.
constexpr double kLowestChord = 90, kMelodyFrom = 2670, kMelodyTo = 5340;
constexpr double kSidedBy = 0.75;  // a channel quieter than that share of the other: panned
// Timbres.
constexpr double kPluckSustain = 0.3, kHasEven = 0.25, kHasOdd = 0.17;
constexpr double kPartialTolerance = 0.012;

/// The nearest pitch class.
int pitch_class_of(double frequency) {
  const double semitones = 12 * std::log2(frequency / kMusicTuning) + 9;  // 9 = a
  const auto nearest = static_cast<int>(std::lround(semitones)) % kPitchClasses;
  return nearest < 0 ? nearest + kPitchClasses : nearest;
}

using Chroma = std::array<double, kPitchClasses>;

Chroma chord_chroma(const std::vector<double>& spectrum) {
  Chroma chroma = {};
  for (const auto bin : peaks_between(spectrum, kLowestChord, kMelodyFrom)) {
    chroma[static_cast<std::size_t>(pitch_class_of(music_bin_frequency(bin)))] += spectrum[bin];
  }
  const double largest = *std::ranges::max_element(chroma);
  for (auto& value : chroma) value /= largest > 0 ? largest : 1;
  return chroma;
}

/// Cosine between the chroma and a chord.
double likeness(const Chroma& chroma, int root, ChordMode mode) {
  std::vector<int> notes = {0, 7};
  if (mode != ChordMode::None) notes.push_back(semitones_of(mode, 2));
  double sum = 0, squares = 0;
  for (const int note : notes) {
    sum += chroma[static_cast<std::size_t>((root + note) % kPitchClasses)];
  }
  for (const double value : chroma) squares += value * value;
  return sum / std::sqrt(static_cast<double>(notes.size()) * std::max(squares, 1e-30));
}

void hear_chord(const std::vector<double>& spectrum, MusicHeard& heard) {
  heard.chroma = chord_chroma(spectrum);
  double best = -1;
  for (int root = 0; root < kPitchClasses; ++root) {
    for (const auto mode : kChordModes) {
      const double value = likeness(heard.chroma, root, mode);
      if (value <= best) continue;
      best = value;
      heard.root = root;
      heard.mode = mode;
    }
  }
}

int degree_of(const MusicHeard& heard, int pitch_class) {
  for (int degree = 0; degree < 7; ++degree) {
    const int above = semitones_of(heard.mode, degree);
    if ((heard.root + above) % kPitchClasses == pitch_class) return degree;
  }
  return -1;
}

struct Beat {
  std::int64_t begin = 0, end = 0;  // frames
};

std::vector<Beat> beats_of(const BeatGrid& grid, std::int64_t frames) {
  std::vector<Beat> beats;
  if (grid.period <= 0) return {{0, frames}};
  constexpr double kShortest = 0.4;  // of a beat, at the end of the sound
  for (double at = grid.first > grid.period / 2 ? grid.first - grid.period : grid.first;
       at < static_cast<double>(frames) - kShortest * grid.period; at += grid.period) {
    beats.push_back({std::max<std::int64_t>(std::llround(at), 0),
                     std::min<std::int64_t>(std::llround(at + grid.period), frames)});
  }
  return beats;
}

/// The loudest pitch above the chord on each beat, and the partials over it.
void hear_melody(const MusicSpectra& spectra, const std::vector<Beat>& beats, MusicHeard& heard) {
  double first = 0, second = 0, third = 0;
  for (const auto& beat : beats) {
    const auto spectrum = spectra.mean(beat.begin, std::max(beat.end - 4, beat.begin + 1));
    const auto peaks = peaks_between(spectrum, kMelodyFrom, kMelodyTo);
    const auto loudest =
        std::ranges::max_element(peaks, {}, [&](std::size_t bin) { return spectrum[bin]; });
    if (loudest == peaks.end()) {
      heard.melody.push_back(-1);
      continue;
    }
    const double frequency = music_bin_frequency(*loudest);
    heard.melody.push_back(degree_of(heard, pitch_class_of(frequency)));
    first += spectrum[*loudest];
    second += strength_at(spectrum, 2 * frequency, kPartialTolerance);
    third += strength_at(spectrum, 3 * frequency, kPartialTolerance);
  }
  heard.even = first > 0 ? second / first : 0;
  heard.odd = first > 0 ? third / first : 0;
}

/// Energy in the third quarter of the beats as a share of that in the first.
double sustain_of(const std::vector<double>& energies, const std::vector<Beat>& beats) {
  double early = 0, late = 0;
  for (const auto& beat : beats) {
    const auto quarter = (beat.end - beat.begin) / 4;
    for (auto i = beat.begin; i < beat.begin + quarter; ++i) {
      early += energies[static_cast<std::size_t>(i)];
      late += energies[static_cast<std::size_t>(i + 2 * quarter)];
    }
  }
  return early > 0 ? late / early : 0;
}

Timbre timbre_of(const MusicHeard& heard) {
  if (heard.sustain < kPluckSustain) return Timbre::Pluck;
  const bool even = heard.even > kHasEven, odd = heard.odd > kHasOdd;
  if (even) return odd ? Timbre::Saw : Timbre::Organ;
  return odd ? Timbre::Square : Timbre::Sine;
}

Pan pan_of(const io::Audio& audio) {
  if (audio.channels < 2) return Pan::Centre;
  const auto energy = [&](int channel) {
    const auto values = audio.channel(channel);
    return std::inner_product(values.begin(), values.end(), values.begin(), 1e-12);
  };
  const double left = std::sqrt(energy(0)), right = std::sqrt(energy(1));
  if (right < kSidedBy * left) return Pan::Left;
  return left < kSidedBy * right ? Pan::Right : Pan::Centre;
}

/// Spectra of hours would not fit into memory.
io::Audio beginning(const io::Audio& audio) {
  const auto frames = std::min<std::int64_t>(audio.frames(), kMostSeconds * audio.rate);
  io::Audio cut{.rate = audio.rate, .channels = audio.channels, .samples = {}};
  for (int channel = 0; channel < audio.channels; ++channel) {
    const auto part = audio.channel(channel).first(static_cast<std::size_t>(frames));
    cut.samples.insert(cut.samples.end(), part.begin(), part.end());
  }
  return cut;
}

}  // namespace

MusicHeard hear_music(const io::Audio& audio) {
  check(audio.seconds() >= 0.5, ErrorKind::Input,
        "[data.music] the sound is too short to be analysed; got {:.2f} s, expected at least half "
        "a second.",
        audio.seconds());
  MusicHeard heard;
  const auto loudest =
      std::ranges::max_element(audio.samples, {}, [](float value) { return std::abs(value); });
  heard.silent = std::abs(*loudest) < kSilence;
  if (heard.silent) return heard;
  const MusicSpectra spectra(as_mono(resampled(beginning(audio), kMusicRate)));
  const auto grid = find_beats(spectra.onsets(), spectra.frames_per_second());
  heard.tempo = grid.period > 0 ? 60 * spectra.frames_per_second() / grid.period : 0;
  const auto beats = beats_of(grid, spectra.frames());
  hear_chord(spectra.mean(0, spectra.frames()), heard);
  hear_melody(spectra, beats, heard);
  heard.sustain = sustain_of(spectra.energies(), beats);
  heard.timbre = timbre_of(heard);
  heard.pan = pan_of(audio);
  return heard;
}

MusicMatch match_music(const MusicPiece& meant, const MusicHeard& heard) {
  MusicMatch match;
  match.notes = static_cast<int>(meant.melody.size());
  if (heard.silent) return match;
  match.root = meant.root == heard.root;
  match.mode = meant.mode == heard.mode;
  match.timbre = meant.timbre == heard.timbre;
  match.tempo = std::abs(heard.tempo - meant.tempo) <= kTempoTolerance * meant.tempo;
  match.pan = meant.pan == heard.pan;
  for (std::size_t i = 0; i < std::min(meant.melody.size(), heard.melody.size()); ++i) {
    match.right_notes += static_cast<int>(meant.melody[i] == heard.melody[i]);
  }
  return match;
}

void MusicCounter::add(const MusicMatch& match) { matches_.push_back(match); }

MusicScores MusicCounter::scores() const {
  MusicScores scores{.pieces = static_cast<int>(matches_.size())};
  if (matches_.empty()) return scores;
  double notes = 0;
  for (const auto& match : matches_) {
    scores.root += static_cast<double>(match.root);
    scores.chord += static_cast<double>(match.chord());
    scores.timbre += static_cast<double>(match.timbre);
    scores.tempo += static_cast<double>(match.tempo);
    scores.pan += static_cast<double>(match.pan);
    scores.notes += match.right_notes;
    notes += match.notes;
  }
  const auto count = static_cast<double>(matches_.size());
  for (double* value : {&scores.root, &scores.chord, &scores.timbre, &scores.tempo, &scores.pan}) {
    *value /= count;
  }
  scores.notes /= std::max(notes, 1.0);
  return scores;
}

}  // namespace ubique::data
