// SPDX-License-Identifier: Apache-2.0
// Makes, listens and counts.
#include "ubique/models/acestep/score/music_scores.h"

#include <ATen/ATen.h>

#include <algorithm>

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
  std::vector<data::MusicHeard> heard;
  for (const auto& piece : pieces) {
    const auto audio = data::play_music(piece, kFrames * kSamplesPerFrame);
    const auto latents = source_latents(parts.dcae(), audio, parts.device());
    heard.push_back(data::hear_music(
        decoded_sound(parts.dcae(), parts.vocoder(), latents, {.rate = audio.rate})));
    if (!done()) break;
  }
  return heard;
}

std::vector<data::MusicHeard> hear_songs(Parts& parts, const std::vector<data::MusicPiece>& pieces,
                                         const SongRequest& request, const PieceDone& done) {
  std::vector<data::MusicHeard> heard;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    auto own = request;
    own.tags = data::music_tags(pieces[i]);
    own.lyrics = data::music_lyrics(pieces[i]);
    own.seeds = {static_cast<std::int64_t>(i)};
    const auto inputs = read_song_inputs(own, parts.folder());
    SongHooks hooks;
    hooks.finished = [&](const MadeSong& made) { heard.push_back(data::hear_music(made.audio)); };
    make_song(inputs, parts, {.release_parts = false}, hooks);
    if (!done()) break;
  }
  return heard;
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
