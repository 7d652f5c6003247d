// SPDX-License-Identifier: Apache-2.0
// Songs as rows of JSON, with the columns of the original's data sets.
#pragma once

#include "ubique/data/music/clip.h"

namespace ubique::data {

/// One object per line; file names are relative to the file of rows. Rows that cannot be understood
/// are skipped with their line's number.
MusicClips read_music_rows(const std::filesystem::path& path);

}  // namespace ubique::data
