// SPDX-License-Identifier: Apache-2.0
// Which way the axes of a grid point in the body, and moving them: permuting and flipping, never
// interpolating.
#pragma once

#include <string_view>

#include "ubique/data/scans/volume/volume.h"

namespace ubique::data {

/// Where one axis of the result comes from.
struct AxisMove {
  int source = 0;        ///< axis of the grid that is moved
  bool flipped = false;  ///< runs the other way
};
using AxisMoves = std::array<AxisMove, 3>;  ///< one for each axis of the result
inline constexpr AxisMoves kNoMoves{{{0, false}, {1, false}, {2, false}}};

/// What brings a grid into the axes named by `codes` ("RAS", "LIA"). Each axis goes where its
/// direction in the shearless rotation nearest to the affine points most (as nibabel decides it,
/// the strongest axis first). Input error for an affine without three directions.
AxisMoves moves_to(const Affine& affine, std::string_view codes);
AxisMoves inverse(const AxisMoves& moves);
bool is_identity(const AxisMoves& moves);

Shape3 moved_shape(const Shape3& shape, const AxisMoves& moves);
/// `shape` is that before the move.
Affine moved_affine(const Affine& affine, const Shape3& shape, const AxisMoves& moves);

/// Where the moved grid's first voxel lies in the memory of the grid, and how far apart its voxels
/// are there along each axis.
struct MovedSteps {
  std::int64_t start = 0;
  Shape3 steps{};
};
MovedSteps moved_steps(const Shape3& shape, const Shape3& strides, const AxisMoves& moves);

template <typename T>
Grid<T> move_axes(const Grid<T>& grid, const AxisMoves& moves, int threads = 1);

}  // namespace ubique::data
