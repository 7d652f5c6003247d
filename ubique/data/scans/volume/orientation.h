// SPDX-License-Identifier: Apache-2.0
// Orientation of voxel grids: which body direction each axis points in, and reordering axes by
// permutation and flips, never by interpolation.
#pragma once

#include <string>
#include <string_view>

#include "ubique/data/scans/volume/volume.h"

namespace ubique::data {

/// Which source axis becomes one axis of the result.
struct AxisMove {
  int source = 0;        ///< axis of the source grid
  bool flipped = false;  ///< in reverse order
};
using AxisMoves = std::array<AxisMove, 3>;  ///< one for each axis of the result
inline constexpr AxisMoves kNoMoves{{{0, false}, {1, false}, {2, false}}};

/// "RAS", "LIA": the direction in which each axis grows.
std::string axis_codes(const Affine& affine);

/// The moves that bring a grid into the axes named by `codes` ("RAS", "LIA"). Directions are those
/// of the rotation nearest to the affine (shear removed), the strongest axis first, as in nibabel.
/// Input error for an affine without three independent directions.
AxisMoves moves_to(const Affine& affine, std::string_view codes);
AxisMoves inverse(const AxisMoves& moves);
bool is_identity(const AxisMoves& moves);

Shape3 moved_shape(const Shape3& shape, const AxisMoves& moves);
/// `shape` is the shape before the move.
Affine moved_affine(const Affine& affine, const Shape3& shape, const AxisMoves& moves);

/// A moved grid as a strided view of the source: offset of its first voxel, and the stride along
/// each of its axes (negative where flipped).
struct MovedSteps {
  std::int64_t start = 0;
  Shape3 steps{};
};
MovedSteps moved_steps(const Shape3& shape, const Shape3& strides, const AxisMoves& moves);

template <typename T>
Grid<T> move_axes(const Grid<T>& grid, const AxisMoves& moves, int threads = 1);

/// The same grid in RAS+ axes (closest canonical). For Volume and LabelMap.
template <typename T>
Grid<T> to_canonical(const Grid<T>& grid, int threads = 1);

}  // namespace ubique::data
