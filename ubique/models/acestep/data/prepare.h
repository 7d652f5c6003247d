// SPDX-License-Identifier: Apache-2.0
// Songs to a set of latents and tokens, clip by clip; what is there already is not made again.
#pragma once

#include <functional>
#include <optional>

#include "ubique/data/lyrics/lyric_tokenizer.h"
#include "ubique/data/music/clip.h"
#include "ubique/data/music/music_set_writer.h"
#include "ubique/io/audio/audio.h"
#include "ubique/models/acestep/files/model_folder.h"
#include "ubique/models/acestep/net/codec/dcae.h"

namespace ubique::acestep {

struct PrepareOptions {
  double most_seconds = 240;  ///< longer clips are cut
  double val_share = 0.05;
  std::uint64_t seed = 42;
  std::string language = {};  ///< of all lyrics; empty: guessed
};

struct PrepareResult {
  std::vector<data::PreparedClip> clips = {};
  std::vector<data::SkippedClip> skipped = {};
  std::int64_t encoded = 0, cut = 0;  ///< made now; longer than most_seconds
};

/// Digest of a file's content, for caches.
std::string file_digest(const std::filesystem::path& path);
/// Digest of what decides the latents of a sound: the weights of the autoencoder.
std::string codec_digest(const ModelFolder& folder);

class MusicPreparer {
 public:
  /// `encoder` gives the autoencoder when it is first needed: if all latents are there, never.
  MusicPreparer(const data::MusicSetWriter& writer, std::string codec,
                const data::LyricTokenizer& lyrics, std::function<const Dcae&()> encoder,
                PrepareOptions options);

  /// One clip; one that cannot be used is noted by name with the reason.
  void add(const data::MusicClip& clip);
  void skip(data::SkippedClip clip) { result_.skipped.push_back(std::move(clip)); }
  /// Holds clips out and writes the index. Input error if no clip is left.
  const PrepareResult& finish();

 private:
  /// A clip as it was read; without a sound if its latents are there.
  struct Draft {
    data::PreparedClip clip;
    std::optional<io::Audio> sound = {};
    std::vector<float> speaker = {};
  };
  Draft read(const data::MusicClip& clip) const;
  void read_sound(const data::MusicClip& clip, std::span<const std::byte> bytes,
                  Draft& draft) const;
  std::vector<std::int32_t> lyric_ids(const data::MusicClip& clip) const;

  const data::MusicSetWriter& writer_;
  std::string codec_;
  const data::LyricTokenizer& lyrics_;
  std::function<const Dcae&()> encoder_;
  PrepareOptions options_;
  PrepareResult result_;
};

}  // namespace ubique::acestep
