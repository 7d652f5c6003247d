// SPDX-License-Identifier: Apache-2.0
// Launching kernels that also add up columns (sources/include/column_sums.cuh), and adding up the
// rows of sums that blocks leave (sources/training/sum_rows.cu).
#pragma once

#include <ATen/ATen.h>

#include <algorithm>

#include "kernel.h"

namespace ubique::backend::cuda {

constexpr int kTileThreads = 256, kTileWarps = 8, kTileVectors = 32;  // as column_sums.cuh

struct Tiles {
  LaunchShape shape;
  std::int64_t slabs = 1;  ///< rows of sums
};

/// Tiles of a matrix of so many rows of 16-byte vectors: as many blocks as run at once.
inline Tiles tiles_for(c10::Device device, std::int64_t rows, std::int64_t vectors,
                       int blocks_per_processor) {
  const auto tiles = (vectors + kTileVectors - 1) / kTileVectors;
  const auto most = std::int64_t{blocks_per_processor} * card_limits(device).processors / tiles;
  const auto slabs = std::clamp<std::int64_t>(most, 1, (rows + kTileWarps - 1) / kTileWarps);
  return {{tiles * slabs, kTileThreads, 0}, slabs};
}

/// The sum of the rows of `matrix` (rows, ...), f32 and contiguous, in a fixed order.
inline at::Tensor sum_rows(const at::Tensor& matrix) {
  constexpr int kThreads = 256, kColumns = 32;  // as sum_rows.cu
  auto sums = at::empty(matrix.sizes().slice(1), matrix.options());
  const int rows = static_cast<int>(matrix.size(0)), columns = static_cast<int>(sums.numel());
  kernel(matrix.device(), "sum_rows.cu", "sum_rows", {})
      .launch(matrix.device(), {(columns + kColumns - 1) / kColumns, kThreads, 0},
              matrix.const_data_ptr<float>(), sums.mutable_data_ptr<float>(), rows, columns);
  return sums;
}

}  // namespace ubique::backend::cuda
