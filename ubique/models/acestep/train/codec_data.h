// SPDX-License-Identifier: Apache-2.0
// Crops of synthetic music for the autoencoder and the vocoder, made while training: endless, so an
// epoch is only a number of samples.
#pragma once

#include "ubique/data/music/synth.h"
#include "ubique/engine/contract/dataset.h"

namespace ubique::acestep {

struct CodecDataOptions {
  std::int64_t size = 1024;  ///< samples of an epoch
  std::int64_t frames = 64;  ///< spectrogram frames of a crop
  bool stereo = true;        ///< both channels; else one of them and its sound
  double level = 6;          ///< decibels by which the loudness varies
  double noise = 0;          ///< deviation of noise on the log-mel values, if mono
  double organ = 0;          ///< share of pieces of the timbre that is kept for adapters
  std::uint64_t seed = 0;
  data::MusicSplit split = data::MusicSplit::Train;
  bool fixed = false;  ///< sample i is always the same: for validation
};

/// Stereo: "log_mel" (B, 2, 128, frames) and "noise" (B, 8, 16, frames / 8). Mono: "log_mel" (B,
/// 128, frames) and "sound" (B, 512·frames).
class CodecDataset final : public engine::Dataset {
 public:
  /// Usage error for crops that are no multiple of 8 frames from 16 on.
  explicit CodecDataset(const CodecDataOptions& options);

  std::int64_t size() const override { return options_.size; }
  engine::Batch load(const std::vector<std::int64_t>& indices,
                     const engine::SampleRandoms& randoms) const override;
  std::string fingerprint() const override;

 private:
  void fill(std::int64_t index, const Random& random, std::span<float> log_mel,
            std::span<float> other) const;

  CodecDataOptions options_;
};

}  // namespace ubique::acestep
