// SPDX-License-Identifier: Apache-2.0
// Does a model make what its tags say? Songs of synthetic music's tags are made and listened to.
#pragma once

#include <functional>
#include <vector>

#include "ubique/data/music/analysis.h"
#include "ubique/models/acestep/files/parts.h"
#include "ubique/models/acestep/use/song_request.h"

namespace ubique::acestep {

/// Called after each piece; false stops.
using PieceDone = std::function<bool()>;

/// Pieces of a split, always the same for a seed.
std::vector<data::MusicPiece> pieces_to_score(data::MusicSplit split, std::int64_t count,
                                              std::uint64_t seed);

/// The pieces as they are played, through the autoencoder and the vocoder: the most that any
/// transformer can reach.
std::vector<data::MusicHeard> hear_codec(Parts& parts, const std::vector<data::MusicPiece>& pieces,
                                         const PieceDone& done);

/// A song for each piece's tags and lyrics, as `request` says otherwise; seed i for piece i.
std::vector<data::MusicHeard> hear_songs(Parts& parts, const std::vector<data::MusicPiece>& pieces,
                                         const SongRequest& request, const PieceDone& done);

/// Fewer sounds than pieces: those that are there.
data::MusicScores score_heard(const std::vector<data::MusicPiece>& pieces,
                              const std::vector<data::MusicHeard>& heard);
/// The control: each sound against the texts of another piece. Only chance is left.
data::MusicScores score_shuffled(const std::vector<data::MusicPiece>& pieces,
                                 const std::vector<data::MusicHeard>& heard);

}  // namespace ubique::acestep
