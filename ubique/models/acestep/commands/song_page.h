// SPDX-License-Identifier: Apache-2.0
// A page with players: songs, what they were asked to be, and what is heard in them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ubique/data/music/analysis.h"

namespace ubique::acestep {

struct SongEntry {
  std::string name, tags, lyrics;
  std::filesystem::path sound, picture;  ///< files in a folder beside the page; no picture: empty
  data::MusicHeard heard;
};

/// HTML without scripts or anything from elsewhere. Files are named relative to the page, which is
/// to lie in the folder above theirs.
std::string song_page(const std::string& title, const std::vector<SongEntry>& songs);

}  // namespace ubique::acestep
