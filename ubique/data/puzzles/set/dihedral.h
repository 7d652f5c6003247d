// SPDX-License-Identifier: Apache-2.0
// The eight rotations and reflections of a grid, numbered as in the original: 0 identity, 1 to 3
// rotated left by 90, 180, 270 degrees, 4 mirrored left to right, 5 mirrored top to bottom,
// 6 transposed, 7 transposed along the other diagonal.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace ubique::data {

inline constexpr std::array<int, 8> kDihedralInverse{0, 3, 2, 1, 4, 5, 6, 7};

struct GridSize {
  std::size_t rows = 0, cols = 0;
  bool operator==(const GridSize&) const = default;
};

/// Size of the result: ids 1, 3, 6 and 7 swap rows and columns.
inline GridSize dihedral_size(int id, GridSize source) {
  const bool swaps = id == 1 || id == 3 || id == 6 || id == 7;
  return swaps ? GridSize{source.cols, source.rows} : source;
}

/// The source cell of the result's cell (row, col).
inline std::size_t dihedral_source(int id, GridSize source, std::size_t row, std::size_t col) {
  const auto last_row = source.rows - 1, last_col = source.cols - 1;
  const auto at = [&](std::size_t r, std::size_t c) { return r * source.cols + c; };
  switch (id) {
    case 1:
      return at(col, last_col - row);
    case 2:
      return at(last_row - row, last_col - col);
    case 3:
      return at(last_row - col, row);
    case 4:
      return at(row, last_col - col);
    case 5:
      return at(last_row - row, col);
    case 6:
      return at(col, row);
    case 7:
      return at(last_row - col, last_col - row);
    default:
      return at(row, col);
  }
}

/// The source cells of the result's cells, row by row.
inline std::vector<std::size_t> dihedral_sources(int id, GridSize source) {
  const auto size = dihedral_size(id, source);
  std::vector<std::size_t> sources;
  sources.reserve(size.rows * size.cols);
  for (std::size_t row = 0; row < size.rows; ++row) {
    for (std::size_t col = 0; col < size.cols; ++col) {
      sources.push_back(dihedral_source(id, source, row, col));
    }
  }
  return sources;
}

}  // namespace ubique::data
