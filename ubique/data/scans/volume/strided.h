// SPDX-License-Identifier: Apache-2.0
// Copies a strided volume (axes in any order and direction) into a dense one with k fastest, and
// converts its values.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>

#include "ubique/base/parallel.h"
#include "ubique/data/scans/volume/volume.h"

namespace ubique::data {

/// Strides, in elements, of a dense grid with k fastest.
inline Shape3 dense_strides(const Shape3& shape) { return {shape[1] * shape[2], shape[2], 1}; }

namespace strided {

constexpr std::int64_t kTile = 32;

/// Transposes one tile through a small buffer, so that source and result are both accessed in whole
/// cache lines even where the row strides are powers of two.
template <typename From, typename To, typename Convert>
void copy_tile(const From* from, std::int64_t from_step, std::int64_t from_k, To* to,
               std::int64_t to_step, std::int64_t rows, std::int64_t columns,
               const Convert& convert) {
  To tile[kTile][kTile + 1];
  for (std::int64_t k = 0; k < columns; ++k) {
    for (std::int64_t r = 0; r < rows; ++r) tile[r][k] = convert(from[r * from_step + k * from_k]);
  }
  for (std::int64_t r = 0; r < rows; ++r) std::copy_n(tile[r], columns, to + r * to_step);
}

template <typename From, typename To, typename Convert>
void copy_plane(const From* from, std::int64_t from_step, std::int64_t from_k, To* to,
                std::int64_t to_step, std::int64_t rows, std::int64_t columns,
                const Convert& convert) {
  for (std::int64_t r = 0; r < rows; r += kTile) {
    for (std::int64_t k = 0; k < columns; k += kTile) {
      copy_tile(from + r * from_step + k * from_k, from_step, from_k, to + r * to_step + k, to_step,
                std::min(kTile, rows - r), std::min(kTile, columns - k), convert);
    }
  }
}

/// For a source whose k stride is 1 or -1: no transposition needed.
template <typename From, typename To, typename Convert>
void copy_rows(const From* from, std::int64_t from_step, std::int64_t from_k, To* to,
               std::int64_t to_step, std::int64_t rows, std::int64_t columns,
               const Convert& convert) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const From* source = from + r * from_step;
    To* result = to + r * to_step;
    if (from_k == 1)
      std::transform(source, source + columns, result, convert);
    else
      for (std::int64_t k = 0; k < columns; ++k) result[k] = convert(source[-k]);
  }
}

}  // namespace strided

/// to[i][j][k] = convert(from[i * steps[0] + j * steps[1] + k * steps[2]]); steps may be negative.
/// `to_steps` are the strides of the result, whose k is fastest.
template <typename From, typename To, typename Convert = std::identity>
void copy_strided(const From* from, const Shape3& steps, const Shape3& shape, To* to,
                  const Shape3& to_steps, int threads = 1, const Convert& convert = {}) {
  // Copies planes of k and of the other axis that has the smaller stride in the source.
  const std::size_t row = std::abs(steps[0]) < std::abs(steps[1]) ? 0 : 1, other = 1 - row;
  const auto rows = shape[row], columns = shape[2];
  parallel_for(shape[other], threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto o = begin; o < end; ++o) {
      const From* source = from + o * steps[other];
      To* result = to + o * to_steps[other];
      if (std::abs(steps[2]) == 1) {
        strided::copy_rows(source, steps[row], steps[2], result, to_steps[row], rows, columns,
                           convert);
      } else {
        strided::copy_plane(source, steps[row], steps[2], result, to_steps[row], rows, columns,
                            convert);
      }
    }
  });
}

}  // namespace ubique::data
