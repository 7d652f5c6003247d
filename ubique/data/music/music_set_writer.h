// SPDX-License-Identifier: Apache-2.0
// Makes or renews a music set. Latents that are there already are kept, each file appears whole or
// not at all, and the index is replaced last: stopped at any time, the folder is the old set, and
// the next start goes on.
#pragma once

#include "ubique/data/music/music_set.h"

namespace ubique::data {

/// Puts a share of the clips into val, by the digest of their sounds: copies of one sound stay
/// together, and few change sides when others come. One at least from four clips on.
void hold_out_clips(std::vector<PreparedClip>& clips, double share, std::uint64_t seed);

struct ClipLength {
  std::int64_t frames = 0;  ///< of latents
  double seconds = 0;       ///< of the sound, before it was padded or cut
};

class MusicSetWriter {
 public:
  /// Input error for a folder that cannot be written.
  MusicSetWriter(std::filesystem::path folder, MusicSetHeader header);

  /// The latents that are there already and whole; nothing if they are not.
  std::optional<ClipLength> find(const std::string& digest) const;
  /// Latents (channels, rows, frames) and, unless empty, the speaker's embedding.
  void write_latents(const std::string& digest, const ClipLength& length,
                     std::span<const float> latents, std::span<const float> speaker = {}) const;
  /// Writes the index of these clips, then removes latents that none of them has.
  void finish(const std::vector<PreparedClip>& clips) const;

 private:
  std::filesystem::path folder_;
  MusicSetHeader header_;
};

}  // namespace ubique::data
