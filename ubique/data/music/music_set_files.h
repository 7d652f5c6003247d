// SPDX-License-Identifier: Apache-2.0
// The lines and file names of a music set, for its reader and its writer.
#pragma once

#include "ubique/data/music/music_set.h"

namespace ubique::data {

std::filesystem::path latents_file(const std::filesystem::path& folder, const std::string& digest);

std::string music_header_line(const MusicSetHeader& header);
std::string music_clip_line(const PreparedClip& clip);
/// Input errors name `where`, the file with its line.
MusicSetHeader parse_music_header(std::string_view line, const std::string& where);
PreparedClip parse_music_clip(std::string_view line, const std::string& where);

}  // namespace ubique::data
