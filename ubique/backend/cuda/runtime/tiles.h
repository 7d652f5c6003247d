// SPDX-License-Identifier: Apache-2.0
// What the kernels that work on tiles of a channels-last volume share.
#pragma once

#include <ATen/core/Tensor.h>

#include "vectors.h"

namespace ubique::backend::cuda {

constexpr int kFirstWithTiles = 80;  ///< Ampere: copies into shared memory that need no register
constexpr std::int64_t kMostTileChannels = 32;  ///< beyond, registers run out and cuDNN is good

/// A dense f16 or bf16 volume of 8, 16, 24 or 32 channels on a card that has the instructions.
inline bool suits_tiles(const at::Tensor& x) {
  const bool half = x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16;
  return half && x.dim() == 5 && x.numel() > 0 && x.size(1) % 8 == 0 &&
         x.size(1) <= kMostTileChannels && x.is_contiguous(at::MemoryFormat::ChannelsLast3d) &&
         can_run_kernels() && card_limits(x.device()).capability >= kFirstWithTiles;
}

}  // namespace ubique::backend::cuda
