// SPDX-License-Identifier: Apache-2.0
// One sample before it is put into a batch. Internal to the dataset.
#pragma once

#include <ATen/core/Tensor.h>

#include "ubique/models/acestep/data/dataset.h"

namespace ubique::acestep {

struct SongDataset::Sample {
  at::Tensor latents = {}, noise = {};  ///< (C, 16, T)
  at::Tensor speaker = {};              ///< (size)
  float sigma = 0;
  bool keep_text = true;
  std::vector<std::int32_t> text_ids = {}, lyric_ids = {};  ///< no lyrics: empty
  std::vector<at::Tensor> features = {};  ///< of each encoder (F, size); undefined = none
};

inline std::int64_t rounded_up(std::size_t count, std::int64_t multiple) {
  return (static_cast<std::int64_t>(count) + multiple - 1) / multiple * multiple;
}

}  // namespace ubique::acestep
