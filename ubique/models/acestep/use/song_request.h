// SPDX-License-Identifier: Apache-2.0
// One request for a song: everything that decides how it sounds, as typed values with the
// original's defaults. The command line, song.json and the web application all fill this.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/models/acestep/net/config/networks.h"
#include "ubique/models/acestep/use/edit.h"

namespace ubique::acestep {

enum class SongTask {
  Text2Music,
  Retake,       ///< another take of the same request
  Repaint,      ///< a window of a clip anew
  Extend,       ///< new music before and after a clip
  Edit,         ///< a clip towards other tags or lyrics
  Audio2Audio,  ///< a song near a clip
};

std::string_view to_string(SongTask task);        ///< "text2music"
SongTask parse_song_task(std::string_view text);  ///< Usage error that lists the names
bool needs_source(SongTask task);

inline constexpr double kLongestSong =
    240;  ///< seconds; the released model has seen no longer ones

/// An adapter and how strongly it acts; 0 = not at all.
struct LoraChoice {
  std::string path;
  double weight = 1;
};

/// Which of the original's quirks are kept, for its numbers.
struct Compatibility {
  bool batch_mean = false;  ///< omega acts on the mean over all variations, not of each
  bool near_shift = false;  ///< audio2audio mixes in less noise than its first step takes out
};

struct SongOutput {
  std::string format = "wav";           ///< wav, flac, ogg, mp3
  std::int64_t bits = 16;               ///< of wav and flac; 32 = floats
  double fade_in = 0, fade_out = 0;     ///< seconds
  std::optional<double> loudness = {};  ///< LUFS; none = as it comes
};

struct SongRequest {
  SongTask task = SongTask::Text2Music;
  std::string tags, lyrics;
  std::string language;  ///< of the lyrics; empty = guessed line by line
  double seconds = 60;   ///< where no source gives the length

  std::int64_t steps = 60;
  nn::FlowSolver solver = nn::FlowSolver::Euler;
  std::vector<std::int64_t> chosen_steps = {};  ///< of a schedule, instead of `steps`
  GuidanceOptions guidance = {};
  double omega = 10, shift = 3;
  bool weak_text = true, weak_lyric = true, weak_diffusion = true;  ///< ERG

  std::int64_t variations = 1;
  std::vector<std::int64_t> seeds = {0};        ///< of each variation; the last one counted on
  std::vector<std::int64_t> retake_seeds = {};  ///< empty = as seeds

  std::string source;          ///< file that repaint, extend, edit and audio2audio begin with
  double variance = 0.5;       ///< of retake, repaint, extend
  double start = 0, end = -1;  ///< seconds of repaint's window; -1 = to the end
  double left = 0, right = 0;  ///< seconds of extend
  EditOptions edit = {};
  std::string target_tags, target_lyrics;  ///< of edit
  double strength = 0.5;                   ///< of the source in audio2audio

  std::vector<LoraChoice> loras = {};
  Compatibility compatibility = {};
  SongOutput output = {};

  std::int64_t seed(std::int64_t variation) const;
  std::int64_t retake_seed(std::int64_t variation) const;
  /// The request that makes one of the variations alone.
  SongRequest only(std::int64_t variation) const;
};

/// Usage error that names the first impossible value. What depends on the source's length or on
/// the vocabularies is checked by read_song_inputs().
void validate(const SongRequest& request);

/// How the sampler is called. Layers of the weakened branches are moved in shallower networks.
SampleOptions sample_options(const SongRequest& request, const NetworkConfigs& networks);

}  // namespace ubique::acestep
