// SPDX-License-Identifier: Apache-2.0
// The layout in which the CPU kernels read an Int8 or Int4 weight: tiles of 16 rows. A tile has all
// its scales first, (groups, 16) f16, then for each group of 32 inputs the values of 16 rows side
// by side: 64 bytes hold 4 neighbouring inputs of each row, so that one instruction multiplies and
// adds them for 16 rows with no sum across a register at the end. Int8 is stored with 128 added;
// Int4 has input i in the low and input i + 16 in the high bits. Missing rows are zeros.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <mutex>

#include "ubique/kernels/quant/quantized_weight.h"

namespace ubique::kernels {

inline constexpr std::int64_t kTileRows = 16;

struct HostWeight {
  QuantFormat format = QuantFormat::Int8;
  std::int64_t rows = 0, groups = 0, tiles = 0;
  std::int64_t scale_bytes = 0, tile_bytes = 0;  ///< multiples of 64
  at::Tensor bytes = {};

  const std::uint8_t* tile(std::int64_t index) const {
    return bytes.const_data_ptr<std::uint8_t>() + index * tile_bytes;
  }
};

HostWeight make_host_weight(const QuantizedWeight& weight);

/// Made once, by whichever thread comes first; copies of a weight share it.
struct HostCache {
  std::once_flag once;
  HostWeight weight;
};

const HostWeight& host_weight(const QuantizedWeight& weight);

// For this folder: the checks and the rest of a weight that its tensors decide.
void check_quantizable(QuantFormat format, std::int64_t rows, std::int64_t columns);
QuantizedWeight complete(QuantizedWeight weight);
at::Tensor nf4_scales(const QuantizedWeight& weight);  ///< one f32 for each block

}  // namespace ubique::kernels
