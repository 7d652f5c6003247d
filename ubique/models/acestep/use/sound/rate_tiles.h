// SPDX-License-Identifier: Apache-2.0
// Changes the sample rate of sound that comes in tiles, on its device: for a minute of stereo the
// host alone would take as long as an accelerator takes to decode it.
#pragma once

#include <ATen/core/Tensor.h>

#include "ubique/data/audio/resample.h"

namespace ubique::acestep {

class RateTiles {
 public:
  RateTiles(int from, int to);

  /// The samples (rows, m) that need no more of the sound than came by now, after another tile
  /// (rows, n), f32; with the `last` tile, all that are left.
  at::Tensor push(const at::Tensor& wave, bool last);

 private:
  void set_tables(c10::Device device);
  /// Samples done_ to `last` - 1 of the result.
  at::Tensor convert(std::int64_t last) const;
  /// Sample of the sound that the first filter of a block reads first.
  std::int64_t start_of(std::int64_t block) const { return block * block_in_ + least_first_; }

  data::RateConverter converter_;
  std::int64_t block_in_, block_out_;  // samples after which the filters repeat
  std::int64_t least_first_ = 0, most_first_ = 0;
  at::Tensor first_, weights_;        // (block_out) i64, (taps, block_out)
  at::Tensor held_;                   // (rows, k): the last samples that came
  std::int64_t begin_ = 0;            // number of the first of them
  std::int64_t size_ = 0, done_ = 0;  // samples that came, and that were given
};

}  // namespace ubique::acestep
