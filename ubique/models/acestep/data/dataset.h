// SPDX-License-Identifier: Apache-2.0
// Prepared songs as training samples: latents with their noise and noise level, tags in a new order
// each time, lyrics; parts of the condition are dropped so that guidance has something to compare.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ubique/data/music/music_set.h"
#include "ubique/engine/contract/dataset.h"
#include "ubique/io/text/tokenizer.h"

namespace ubique::acestep {

struct SongDatasetOptions {
  std::int64_t repeat = 1;       ///< times that each clip comes in an epoch
  std::int64_t crop_frames = 0;  ///< longer clips are cut to so many, anywhere; 0 = whole
  double drop_text = 0.15, drop_speaker = 0.5, drop_lyrics = 0.15;
  double sigma_mean = 0, sigma_deviation = 1;  ///< of the normal numbers behind the noise levels
  double shift = 3;
  std::int64_t speaker_size = 512;
  /// Tags and lyrics are padded to a multiple of this: few different shapes, so that updates can be
  /// recorded for each. 1 = no longer than the longest of a batch.
  std::int64_t token_multiple = 64;
  /// Audio encoders whose features are read where they are, and their sizes; empty = none.
  std::vector<std::pair<std::string, std::int64_t>> encoders = {};
};

class SongDataset final : public engine::Dataset {
 public:
  /// The clips of one split, which all threads read with the same tokenizer. Input error for none.
  SongDataset(std::shared_ptr<const data::MusicSet> set, std::string_view split,
              std::shared_ptr<const io::Tokenizer> tokenizer, SongDatasetOptions options);

  std::int64_t size() const override;
  /// Samples of an update are of like length: a shuffle, sorted by length in pieces of some
  /// updates, whose updates are shuffled again.
  std::vector<std::int64_t> order(std::int64_t epoch, std::int64_t per_update,
                                  const Random& random) const override;
  std::vector<std::int64_t> largest(std::int64_t count) const override;
  /// The tensors of song_loss(). The weight is the number of samples.
  engine::Batch load(const std::vector<std::int64_t>& indices,
                     const engine::SampleRandoms& randoms) const override;
  std::string fingerprint() const override;

  /// One clip as it is, once for each noise level: whole or its first frames, all of its condition,
  /// noise by its key. For validation.
  engine::Batch fixed_batch(std::int64_t clip, const std::vector<double>& sigmas) const;

  const std::vector<data::PreparedClip>& clips() const { return clips_; }
  std::int64_t longest_frames() const;
  std::int64_t longest_context() const;  ///< tokens of speaker, tags and lyrics, usually at most
  /// How many clips have features of each encoder.
  std::vector<std::int64_t> clips_with_features() const;

 private:
  struct Sample;
  std::int64_t frames_of(const data::PreparedClip& clip) const;
  Sample make_sample(const data::PreparedClip& clip, const Random& random) const;
  Sample fixed_sample(const data::PreparedClip& clip, double sigma) const;
  void add_latents(Sample& sample, const data::PreparedClip& clip, std::int64_t first,
                   const Random& noise) const;
  void add_features(Sample& sample, const data::PreparedClip& clip, std::int64_t first) const;
  engine::Batch collate(const std::vector<Sample>& samples) const;
  void collate_features(engine::Batch& batch, const std::vector<Sample>& samples) const;

  std::shared_ptr<const data::MusicSet> set_;
  std::vector<data::PreparedClip> clips_;
  std::shared_ptr<const io::Tokenizer> tokenizer_;
  SongDatasetOptions options_;
  std::vector<float> sigmas_;  // that training draws from
};

/// Token ids of a prompt for the text encoder, with its end; cut to 256.
std::vector<std::int32_t> prompt_ids(const io::Tokenizer& tokenizer, const std::string& prompt);

}  // namespace ubique::acestep
