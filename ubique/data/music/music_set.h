// SPDX-License-Identifier: Apache-2.0
// Songs ready for training in a folder: music.jsonl has a header line and a line per clip (texts,
// token ids of its lyrics, train or val), latents/DIGEST.safetensors the latents of each. A person
// may add features/KEY.safetensors with the features of audio encoders (NAME: frames, size).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/text/json.h"

namespace ubique::data {

inline constexpr const char* kMusicIndex = "music.jsonl";
inline constexpr const char* kMusicTrain = "train";
inline constexpr const char* kMusicVal = "val";

struct MusicSetHeader {
  std::string codec = {};       ///< digest of what made the latents
  std::string vocabulary = {};  ///< digest of the lyric vocabulary
  std::int64_t channels = 8, rows = 16;
  Json source = Json::object(), options = Json::object();
};

struct PreparedClip {
  std::string key = {};
  std::string sound = {};    ///< digest of the sound file: copies stay on one side of the split
  std::string audio = {};    ///< where that file was
  std::string latents = {};  ///< digest that names their file
  std::string split = kMusicTrain;
  std::int64_t frames = 0;
  double seconds = 0;  ///< of the sound, before padding
  std::vector<std::string> tags = {}, captions = {};
  std::string lyrics = {};
  std::vector<std::int32_t> lyric_ids = {};  ///< empty: no lyrics
};

/// Features of a clip by one audio encoder: (frames, size).
struct ClipFeatures {
  std::int64_t frames = 0, size = 0;
  std::vector<float> values = {};
};

/// Whether the folder holds such a set.
bool is_music_set(const std::filesystem::path& folder);

class MusicSet {
 public:
  /// Checks the index and the shape of each latents file. Input error that names what is missing,
  /// damaged or of a newer version, and says to prepare again.
  explicit MusicSet(std::filesystem::path folder);

  const std::filesystem::path& folder() const { return folder_; }
  const MusicSetHeader& header() const { return header_; }
  const std::vector<PreparedClip>& clips() const { return clips_; }
  std::vector<PreparedClip> clips_of(std::string_view split) const;
  std::string fingerprint() const;  ///< of all but the features

  /// Frames [first, first + count): (channels, rows, count). Thread-safe, as the others are.
  std::vector<float> latents(const PreparedClip& clip, std::int64_t first,
                             std::int64_t count) const;
  /// Nothing if the clip has no speaker.
  std::optional<std::vector<float>> speaker(const PreparedClip& clip) const;
  /// Reads the file's header alone.
  bool has_features(const PreparedClip& clip, const std::string& name) const;
  /// Nothing if the clip has no features of that name.
  std::optional<ClipFeatures> features(const PreparedClip& clip, const std::string& name) const;

 private:
  std::filesystem::path folder_;
  MusicSetHeader header_;
  std::vector<PreparedClip> clips_;
};

}  // namespace ubique::data
