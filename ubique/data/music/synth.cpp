// SPDX-License-Identifier: Apache-2.0
// Pieces from random numbers, and their sound.
#include "ubique/data/music/synth.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ubique/base/error.h"

namespace ubique::data {
namespace {

/// Samples after which every wave repeats: a hop of the vocoder's spectrogram. A network that sees
/// only magnitudes of such frames cannot know the phase of any other pitch.
constexpr int kPeriod = 512;
constexpr int kHighestOvertone = 185;  // 16 kHz, the highest that the spectrogram has
/// Overtones of 86.13 Hz nearest to the twelve pitch classes from c on, in one octave.
constexpr std::array<int, kPitchClasses> kOvertones = {24, 25, 27, 28, 30, 16,
                                                       17, 18, 19, 20, 21, 23};
constexpr std::array<int, 7> kMajorScale = {0, 2, 4, 5, 7, 9, 11};
constexpr std::array<int, 7> kMinorScale = {0, 2, 3, 5, 7, 8, 10};

constexpr double kChordGain = 0.07, kMelodyGain = 0.14;
constexpr double kFarSide = 0.35;  // gain of the channel away from which the sound is panned
constexpr double kAttack = 0.008, kRelease = 0.05, kRest = 0.03;  // seconds, of every note

/// Partials that sound alike in time. No decay: sustained.
struct Layer {
  std::vector<double> partials;  // amplitude of partial 1, 2, ...
  double decay = 0;              // seconds
};

std::vector<double> falling_partials(int step) {
  std::vector<double> partials(11, 0.0);  // of the lowest pitch below 16 kHz
  for (std::size_t i = 0; i < partials.size(); i += static_cast<std::size_t>(step)) {
    partials[i] = 1.0 / static_cast<double>(i + 1);
  }
  return partials;
}

std::vector<Layer> layers_of(Timbre timbre) {
  switch (timbre) {
    case Timbre::Sine:
      return {Layer{.partials = {1}}};
    case Timbre::Saw:
      return {Layer{.partials = falling_partials(1)}};
    case Timbre::Square:
      return {Layer{.partials = falling_partials(2)}};
    case Timbre::Pluck:
      return {Layer{.partials = {1.4}, .decay = 0.16},
              Layer{.partials = {0, 0.9, 0.6, 0.4}, .decay = 0.07}};
    case Timbre::Organ:
      return {Layer{.partials = {0.8, 0.9}}};
  }
  fail(ErrorKind::Internal, "[data.music] an unknown timbre.");
}

void add_note(int overtone, double gain, const std::vector<double>& partials,
              std::vector<double>& wave) {
  for (std::size_t n = 0; n < partials.size(); ++n) {
    const int cycles = overtone * (static_cast<int>(n) + 1);
    if (cycles > kHighestOvertone || partials[n] == 0) continue;
    for (int i = 0; i < kPeriod; ++i) {
      const auto turn = static_cast<double>(cycles * i % kPeriod) / kPeriod;
      wave[static_cast<std::size_t>(i)] +=
          gain * partials[n] * std::sin(2 * std::numbers::pi * turn);
    }
  }
}

int overtone_of(int pitch_class) {
  return kOvertones[static_cast<std::size_t>(pitch_class % kPitchClasses)];
}

/// One period of a beat's chord and melody note.
std::vector<double> beat_wave(const MusicPiece& piece, int degree, const Layer& layer) {
  std::vector<double> wave(kPeriod, 0.0);
  std::vector<int> chord = {0, 7};
  if (piece.mode != ChordMode::None) chord.push_back(semitones_of(piece.mode, 2));
  for (const int above : chord) {
    add_note(overtone_of(piece.root + above), kChordGain, layer.partials, wave);
  }
  const int melody = overtone_of(piece.root + semitones_of(piece.mode, degree));
  add_note(2 * melody, kMelodyGain, layer.partials, wave);
  return wave;
}

/// Loudness of a note of `length` seconds at `time`.
double envelope(double time, double length, double decay) {
  const double rise = std::min(time / kAttack, 1.0);
  const double fall = std::clamp((length - kRest - time) / kRelease, 0.0, 1.0);
  return rise * fall * (decay > 0 ? std::exp(-time / decay) : 1.0);
}

std::int64_t beat_start(int tempo, std::int64_t beat) { return beat * 60 * kMusicRate / tempo; }

io::Audio panned(const std::vector<float>& mono, Pan pan) {
  io::Audio audio{.rate = kMusicRate, .channels = 2};
  audio.samples.reserve(2 * mono.size());
  for (const auto far : {Pan::Right, Pan::Left}) {
    const auto gain = static_cast<float>(pan == far ? kFarSide : 1.0);
    for (const float value : mono) audio.samples.push_back(gain * value);
  }
  return audio;
}

}  // namespace

int semitones_of(ChordMode mode, int degree) {
  const auto& scale = mode == ChordMode::Minor ? kMinorScale : kMajorScale;
  return scale[static_cast<std::size_t>(degree)];
}

bool is_held_out(const MusicPiece& piece) {
  if (piece.timbre == Timbre::Organ) return false;
  const auto combination = ((static_cast<std::uint64_t>(piece.root) * kChordModes.size() +
                             static_cast<std::uint64_t>(piece.mode)) *
                                kTimbres.size() +
                            static_cast<std::uint64_t>(piece.timbre)) *
                               1000 +
                           static_cast<std::uint64_t>(piece.tempo);
  return Random(1, 0x6d75736963).below(combination, 10) == 0;
}

MusicPiece music_piece(const Random& random, std::uint64_t index, const MusicOptions& options) {
  const auto own = random.fork(index);
  MusicPiece piece;
  const auto choose = [&](std::uint64_t draw, std::size_t count) {
    return static_cast<std::size_t>(own.below(draw, count));
  };
  const bool held_out = options.split == MusicSplit::HeldOut;
  check(!held_out || options.timbre != Timbre::Organ, ErrorKind::Usage,
        "[data.music] no piece for the organ is held out. Take the training split.");
  for (std::uint64_t draw = 100;; draw += 4) {  // one in ten is held out, so this ends
    piece.root = static_cast<int>(choose(draw, kPitchClasses));
    piece.mode = kChordModes[choose(draw + 1, kChordModes.size())];
    piece.timbre = options.timbre.value_or(kTimbres[choose(draw + 2, kTimbres.size())]);
    piece.tempo = kTempos[choose(draw + 3, kTempos.size())];
    if (is_held_out(piece) == held_out) break;
  }
  piece.pan = static_cast<Pan>(choose(0, 3));
  const auto samples = static_cast<std::int64_t>(options.seconds * kMusicRate);
  for (std::int64_t beat = 0; beat < beats_within(piece.tempo, samples); ++beat) {
    constexpr std::array<int, 4> kOpen = {0, 1, 3, 4};  // no third, which would be a mode
    const auto draw = static_cast<std::uint64_t>(beat) + 1'000'000;
    piece.melody.push_back(piece.mode == ChordMode::None ? kOpen[choose(draw, kOpen.size())]
                                                         : static_cast<int>(choose(draw, 5)));
  }
  return piece;
}

std::int64_t beats_within(int tempo, std::int64_t samples) {
  std::int64_t beats = 0;
  while (beat_start(tempo, beats) < samples) ++beats;
  return beats;
}

double music_frequency(int pitch_class) {
  return static_cast<double>(overtone_of(pitch_class)) * kMusicRate / kPeriod;
}

io::Audio play_music(const MusicPiece& piece, std::int64_t samples, std::int64_t begin) {
  check(!piece.melody.empty() && piece.tempo > 0, ErrorKind::Usage,
        "[data.music] a piece has no melody or no tempo; expected at least one note.");
  io::check_length(samples, 2, "synthetic music");
  std::vector<float> mono(static_cast<std::size_t>(samples), 0.0F);
  const auto layers = layers_of(piece.timbre);
  for (std::int64_t beat = 0; beat_start(piece.tempo, beat) < begin + samples; ++beat) {
    const auto first = beat_start(piece.tempo, beat), end = beat_start(piece.tempo, beat + 1);
    if (end <= begin) continue;
    const auto degree = piece.melody[static_cast<std::size_t>(beat) % piece.melody.size()];
    for (const auto& layer : layers) {
      const auto wave = beat_wave(piece, degree, layer);
      for (auto i = std::max(first, begin); i < std::min(end, begin + samples); ++i) {
        const auto loudness = envelope(static_cast<double>(i - first) / kMusicRate,
                                       static_cast<double>(end - first) / kMusicRate, layer.decay);
        mono[static_cast<std::size_t>(i - begin)] +=
            static_cast<float>(loudness * wave[static_cast<std::size_t>(i % kPeriod)]);
      }
    }
  }
  return panned(mono, piece.pan);
}

}  // namespace ubique::data
