// SPDX-License-Identifier: Apache-2.0
// Finds sound files and their texts; a clip whose texts cannot be read is skipped by name.
#include "ubique/data/music/clip.h"

#include <algorithm>
#include <set>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/text.h"
#include "ubique/base/text/utf8.h"
#include "ubique/data/music/clip_rows.h"
#include "ubique/io/audio/audio_file.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLongestClipText = 1 << 20;  // bytes

/// The text of X_prompt.txt and the like; empty if there is none.
std::string text_beside(const fs::path& audio, const char* ending) {
  auto path = audio;
  path.replace_extension();
  path += ending;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return {};
  auto text = read_file(path, kLongestClipText);
  check(is_utf8(text), ErrorKind::Input,
        "[data.music] {} is no UTF-8 text; expected it saved as UTF-8.", path.string());
  return std::string(trim(text));
}

MusicClip clip_of_file(const fs::path& folder, const fs::path& audio) {
  auto name = audio.lexically_relative(folder);
  MusicClip clip{.key = name.replace_extension().generic_string(), .audio = audio};
  clip.tags = split(text_beside(audio, "_prompt.txt"), ',');
  clip.lyrics = text_beside(audio, "_lyrics.txt");
  if (auto caption = text_beside(audio, ".txt"); !caption.empty()) {
    clip.captions.push_back(std::move(caption));
  }
  return clip;
}

std::vector<fs::path> audio_files(const fs::path& folder) {
  std::vector<fs::path> files;
  check_readable(folder);
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    std::error_code ignored;
    const bool hidden = entries->path().filename().string().starts_with('.');
    if (hidden && entries->is_directory(ignored)) entries.disable_recursion_pending();
    if (hidden || !entries->is_regular_file(ignored)) continue;
    if (io::is_audio_name(entries->path())) files.push_back(entries->path());
  }
  check(!error, ErrorKind::Input, "[data.music] {} cannot be listed: {}.", folder.string(),
        error.message());
  std::sort(files.begin(), files.end());
  return files;
}

MusicClips clips_of_folder(const fs::path& folder) {
  MusicClips found;
  std::set<std::string> keys;
  for (const auto& audio : audio_files(folder)) {
    try {
      auto clip = clip_of_file(folder, audio);
      check(keys.insert(clip.key).second, ErrorKind::Input,
            "[data.music] another sound file has the same name and texts; expected one of each "
            "name.");
      found.clips.push_back(std::move(clip));
    } catch (const Error& error) {
      found.skipped.push_back({audio.string(), error.what()});
    }
  }
  return found;
}

}  // namespace

MusicClips read_music_clips(const fs::path& path) {
  std::error_code ignored;
  check(fs::exists(path, ignored), ErrorKind::Input,
        "[data.music] {} does not exist; expected a folder of sound files, or a .jsonl file.",
        path.string());
  auto found = fs::is_directory(path, ignored) ? clips_of_folder(path) : read_music_rows(path);
  check(!found.clips.empty() || !found.skipped.empty(), ErrorKind::Input,
        "[data.music] {} has no sound files; expected X.wav, X.flac, X.ogg or X.mp3, each with "
        "X_prompt.txt and X_lyrics.txt beside it.",
        path.string());
  return found;
}

}  // namespace ubique::data
