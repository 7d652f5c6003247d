// SPDX-License-Identifier: Apache-2.0
// Requirements of the kernels that work on tiles of a channels-last volume.
#pragma once

#include <ATen/core/Tensor.h>

#include "vectors.h"

namespace ubique::backend::cuda {

constexpr int kMinTileCapability = 80;         ///< Ampere: asynchronous copies into shared memory
constexpr std::int64_t kMaxTileChannels = 32;  ///< with more, registers run out and cuDNN is fast

/// True for a dense f16 or bf16 volume of 8, 16, 24 or 32 channels on a card with the instructions.
inline bool suits_tiles(const at::Tensor& x) {
  const bool half = x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16;
  return half && x.dim() == 5 && x.numel() > 0 && x.size(1) % 8 == 0 &&
         x.size(1) <= kMaxTileChannels && x.is_contiguous(at::MemoryFormat::ChannelsLast3d) &&
         can_run_kernels() && card_limits(x.device()).capability >= kMinTileCapability;
}

}  // namespace ubique::backend::cuda
