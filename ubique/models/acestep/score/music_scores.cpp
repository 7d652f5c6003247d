// SPDX-License-Identifier: Apache-2.0
// Makes, listens and counts.
#include "ubique/models/acestep/score/music_scores.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ubique/base/text/json.h"
#include "ubique/engine/ranks/rank_jobs.h"
#include "ubique/models/acestep/use/make_song.h"
#include "ubique/models/acestep/use/sound/encode.h"

namespace ubique::acestep {
namespace {

data::MusicScores score_moved(const std::vector<data::MusicPiece>& pieces,
                              const std::vector<data::MusicHeard>& heard, std::size_t by) {
  data::MusicCounter counter;
  for (std::size_t i = 0; i < heard.size(); ++i) {
    counter.add(data::match_music(pieces[(i + by) % heard.size()], heard[i]));
  }
  return counter.scores();
}

/// What is compared with the piece (match_music), not what it was taken from.
Json to_json(const data::MusicHeard& heard) {
  return {heard.silent, heard.root,   static_cast<int>(heard.mode), static_cast<int>(heard.timbre),
          heard.tempo,  heard.melody, static_cast<int>(heard.pan)};
}

data::MusicHeard heard_of(const Json& json) {
  data::MusicHeard heard;
  heard.silent = json[0];
  heard.root = json[1];
  heard.mode = static_cast<data::ChordMode>(json[2].get<int>());
  heard.timbre = static_cast<data::Timbre>(json[3].get<int>());
  heard.tempo = json[4];
  heard.melody = json[5].get<std::vector<int>>();
  heard.pan = static_cast<data::Pan>(json[6].get<int>());
  return heard;
}

/// All ranks, each its share of the pieces. After a stop, those before the first that is missing.
std::vector<data::MusicHeard> hear_share(std::int64_t count, const PieceDone& done,
                                         const std::function<data::MusicHeard(std::size_t)>& hear) {
  const engine::RankJobs jobs(count);
  std::vector<Json> mine;
  for (const auto piece : jobs.mine()) {
    mine.push_back(to_json(hear(static_cast<std::size_t>(piece))));
    if (!done()) break;
  }
  std::vector<data::MusicHeard> heard;
  for (const auto& result : jobs.collect(std::move(mine))) {
    if (result.is_null()) break;  // pieces are matched by their place
    heard.push_back(heard_of(result));
  }
  return heard;
}

}  // namespace

std::vector<data::MusicPiece> pieces_to_score(data::MusicSplit split, std::int64_t count,
                                              std::uint64_t seed) {
  std::vector<data::MusicPiece> pieces;
  for (std::int64_t i = 0; i < count; ++i) {
    pieces.push_back(data::music_piece(Random(seed, 0x73636f7265), static_cast<std::uint64_t>(i),
                                       {.split = split}));
  }
  return pieces;
}

std::vector<data::MusicHeard> hear_codec(Parts& parts, const std::vector<data::MusicPiece>& pieces,
                                         const PieceDone& done) {
  const at::NoGradGuard no_gradients;
  constexpr std::int64_t kFrames = 32;  // three seconds
  return hear_share(std::ssize(pieces), done, [&](std::size_t i) {
    const auto audio = data::play_music(pieces[i], kFrames * kSamplesPerFrame);
    const auto latents = source_latents(parts.dcae(), audio, parts.device());
    return data::hear_music(
        decoded_sound(parts.dcae(), parts.vocoder(), latents, {.rate = audio.rate}));
  });
}

std::vector<data::MusicHeard> hear_songs(Parts& parts, const std::vector<data::MusicPiece>& pieces,
                                         const SongRequest& request, const PieceDone& done) {
  return hear_share(std::ssize(pieces), done, [&](std::size_t i) {
    auto own = request;
    own.tags = data::music_tags(pieces[i]);
    own.lyrics = data::music_lyrics(pieces[i]);
    own.seeds = {static_cast<std::int64_t>(i)};
    const auto inputs = read_song_inputs(own, parts.folder());
    data::MusicHeard heard;
    SongHooks hooks;
    hooks.finished = [&](const MadeSong& made) { heard = data::hear_music(made.audio); };
    make_song(inputs, parts, {.release_parts = false}, hooks);
    return heard;
  });
}

data::MusicScores score_heard(const std::vector<data::MusicPiece>& pieces,
                              const std::vector<data::MusicHeard>& heard) {
  return score_moved(pieces, heard, 0);
}

data::MusicScores score_shuffled(const std::vector<data::MusicPiece>& pieces,
                                 const std::vector<data::MusicHeard>& heard) {
  return score_moved(pieces, heard, std::max<std::size_t>(1, heard.size() / 2));
}

}  // namespace ubique::acestep
