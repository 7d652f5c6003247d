// SPDX-License-Identifier: Apache-2.0
// A musician's folder of short songs with their texts, written by the test itself.
#pragma once

#include <cmath>
#include <filesystem>
#include <string>

#include "tests/models/acestep/small_model.h"
#include "ubique/base/files/file.h"
#include "ubique/io/audio/audio_file.h"
#include "ubique/models/acestep/data/prepare.h"
#include "ubique/models/acestep/files/open.h"

namespace ubique::test {

inline io::Audio tone(double seconds, double hertz, int rate = 44'100, int channels = 2) {
  io::Audio audio{.rate = rate, .channels = channels};
  const auto frames = static_cast<std::int64_t>(seconds * rate);
  for (int c = 0; c < channels; ++c) {
    for (std::int64_t i = 0; i < frames; ++i) {
      const auto time = static_cast<double>(i) / rate;
      audio.samples.push_back(
          static_cast<float>(0.4 * std::sin(6.28318 * hertz * time + c) + 1e-4));
    }
  }
  return audio;
}

/// Song NAME with its texts; an empty text has no file.
inline void write_song(const std::filesystem::path& folder, const std::string& name,
                       const io::Audio& audio, const std::string& tags,
                       const std::string& lyrics = {}) {
  make_folder(folder);
  io::write_audio(folder / (name + ".wav"), audio);
  if (!tags.empty()) write_file(folder / (name + "_prompt.txt"), tags);
  if (!lyrics.empty()) write_file(folder / (name + "_lyrics.txt"), lyrics);
}

/// Six songs of 3 to 3.9 seconds, some with lyrics.
inline void write_songs(const std::filesystem::path& folder) {
  for (int i = 0; i < 6; ++i) {
    write_song(folder, "song" + std::to_string(i), tone(3 + 0.18 * i, 200 + 40 * i),
               "a minor, saw, " + std::to_string(60 + 30 * (i % 3)) + " bpm",
               i % 2 == 0 ? "[verse]\ndo mi so" : "");
  }
}

/// Prepares the folder with the model's autoencoder, as `data acestep prepare` does.
inline acestep::PrepareResult prepare_songs(const std::filesystem::path& songs,
                                            const std::filesystem::path& data,
                                            const std::filesystem::path& model,
                                            const acestep::PrepareOptions& options = {
                                                .val_share = 0.2}) {
  const auto folder = acestep::read_model_folder(model);
  const data::MusicSetWriter writer(
      data, {.codec = acestep::codec_digest(folder),
             .vocabulary = acestep::file_digest(acestep::require_lyric_vocabulary(folder))});
  const data::LyricTokenizer lyrics(acestep::require_lyric_vocabulary(folder));
  acestep::Parts parts(folder, c10::Device(c10::kCPU), c10::ScalarType::Float);
  acestep::MusicPreparer preparer(
      writer, acestep::codec_digest(folder), lyrics,
      [&]() -> const acestep::Dcae& { return parts.dcae(); }, options);
  const auto found = data::read_music_clips(songs);
  for (const auto& clip : found.skipped) preparer.skip(clip);
  for (const auto& clip : found.clips) preparer.add(clip);
  return preparer.finish();
}

}  // namespace ubique::test
