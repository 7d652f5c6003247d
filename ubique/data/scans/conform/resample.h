// SPDX-License-Identifier: Apache-2.0
// Resamples one grid at the voxels of another: linear or nearest. Where the axes of the two are
// aligned, each axis has its own table and interpolation is separable.
#pragma once

#include <cmath>
#include <vector>

#include "ubique/data/scans/volume/volume.h"

namespace ubique::data {

/// How points up to half a voxel beyond the outermost voxel centres are treated.
enum class Edge {
  Strict,     ///< as outside, like SciPy's mode "constant"
  HalfVoxel,  ///< as part of the outermost voxel
};

/// Whether interpolated values are rounded, as for files that store integers.
enum class Rounding { None, Integers };

/// Rounds halves away from zero, as SciPy does for integer arrays.
inline float stored_value(double value, Rounding rounding) {
  return static_cast<float>(rounding == Rounding::Integers ? std::round(value) : value);
}

/// For each voxel along one axis of the result, its position on the source axis:
/// (1 - weight) * source[lower] + weight * source[lower + 1]; lower = -1 is outside, with value 0.
struct AxisTable {
  std::vector<std::int64_t> lower;
  std::vector<double> weight;
};
using AxisTables = std::array<AxisTable, 3>;

/// The result has one voxel per combination of table entries; its affine is not set.
Volume resample_linear(const Volume& source, const AxisTables& tables, Rounding rounding,
                       int threads);
LabelMap resample_nearest(const LabelMap& source, const AxisTables& tables, int threads);

/// `to_source` maps voxels of the result to voxels of the source. Points within 1e-9 of an edge
/// count as on it, and those within 1e-9 of the midpoint between two voxels go to the upper one, so
/// that rounding errors decide neither a face of the grid nor a label.
Volume resample_linear(const Volume& source, const Affine& to_source, const Shape3& shape,
                       Edge edge, Rounding rounding, int threads);
LabelMap resample_nearest(const LabelMap& source, const Affine& to_source, const Shape3& shape,
                          Edge edge, int threads);

}  // namespace ubique::data
