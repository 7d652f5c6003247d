// SPDX-License-Identifier: Apache-2.0
// Songs to train on, as people keep them: a folder of sound files with texts beside them, or rows
// that name the files. Only texts are read here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ubique::data {

struct MusicClip {
  std::string key;  ///< unique: the path in its folder without the ending, or the row's own
  std::filesystem::path audio = {};
  std::vector<std::string> tags = {};
  std::vector<std::string> captions = {};  ///< whole sentences, each as good as the tags
  std::string lyrics = {};                 ///< empty: instrumental
  std::filesystem::path speaker = {};      ///< a file with a speaker's embedding; empty = none
};

/// A clip that cannot be used, and why.
struct SkippedClip {
  std::string name, why;
};

struct MusicClips {
  std::vector<MusicClip> clips = {};  ///< by key
  std::vector<SkippedClip> skipped = {};
};

/// A folder with its sub-folders: X.wav, .flac, .ogg or .mp3, X_prompt.txt (tags with commas
/// between them), X_lyrics.txt, X.txt (a caption); or a file of rows, one JSON object per line with
/// keys, filename, tags, norm_lyrics, recaption and speaker_emb_path. Input error for a path with
/// no clip.
MusicClips read_music_clips(const std::filesystem::path& path);

}  // namespace ubique::data
