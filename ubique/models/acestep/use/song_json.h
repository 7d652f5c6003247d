// SPDX-License-Identifier: Apache-2.0
// song.json, which stands beside each song and makes it again: the original's keys, and ours in an
// object "ubique". The original's own files are read as well.
#pragma once

#include <filesystem>
#include <string>

#include "ubique/base/text/json_fwd.h"
#include "ubique/models/acestep/use/make_song.h"

namespace ubique::acestep {

/// What is recorded beside the request; nothing of it is read back.
struct SongRecord {
  std::string audio_path = {}, model = {}, device = {}, dtype = {};
  SongTimes times = {};
};

/// Of a request with one variation (SongRequest::only()).
Json song_json(const SongRequest& request, const SongRecord& record);

/// Input error that names the file and the key for unknown keys, with a "did you mean", and for
/// values of another type. The request is not validated yet.
SongRequest parse_song_json(const Json& json, const std::string& where);
SongRequest read_song_json(const std::filesystem::path& path);

/// What suits a model: song.json in its folder, else the original's defaults.
SongRequest default_request(const std::filesystem::path& model_folder);

}  // namespace ubique::acestep
