// SPDX-License-Identifier: Apache-2.0
// Where songs go: the sound, song.json beside it, a picture. Every file appears complete or not at
// all.
#pragma once

#include <filesystem>
#include <vector>

#include "ubique/engine/contract/request.h"
#include "ubique/models/acestep/use/song_json.h"

namespace ubique::acestep {

struct SongFiles {
  std::filesystem::path sound, json, picture;  ///< picture empty: none
};

class SongWriter {
 public:
  /// Reads -o, --out-dir, --basename and --picture; an ending of -o sets the request's format.
  /// Tries to write there. Usage and Input errors for what cannot be written.
  SongWriter(const engine::Request& request, SongRequest& song);

  /// song.wav, or song-1.wav, song-2.wav, ... of several.
  SongFiles files(std::int64_t variation) const;
  SongFiles write(const MadeSong& made, const SongRequest& song, SongRecord record) const;
  /// What makes a failed song again: the request with `failed` {stage, step}.
  std::filesystem::path write_replay(const SongRequest& song, const NotFinite& failure,
                                     SongRecord record) const;

 private:
  std::filesystem::path named(std::int64_t variation, const std::string& ending) const;

  std::filesystem::path stem_;  // of all files
  std::string ending_;          // ".wav"
  std::int64_t variations_ = 1;
  bool picture_ = false;
};

}  // namespace ubique::acestep
