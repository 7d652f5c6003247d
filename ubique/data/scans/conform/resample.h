// SPDX-License-Identifier: Apache-2.0
// Values of one grid at the voxels of another: linear or nearest. Where the axes of the two run
// along each other, each axis is a table of its own, and a volume costs three short passes.
#pragma once

#include <cmath>
#include <vector>

#include "ubique/data/scans/volume/volume.h"

namespace ubique::data {

/// What lies between the outermost voxel centres and half a voxel beyond them.
enum class Edge {
  Strict,     ///< is outside, as SciPy's "constant" has it
  HalfVoxel,  ///< belongs to the outermost voxel
};

/// How values that were integers in the file come out of interpolation.
enum class Rounding { None, Integers };

/// Halves away from zero, as SciPy stores results in integer arrays.
inline float stored_value(double value, Rounding rounding) {
  return static_cast<float>(rounding == Rounding::Integers ? std::round(value) : value);
}

/// For each voxel along one axis of the result, where it lies on the axis of the source: `weight`
/// of the voxel after `lower`, the rest of `lower` itself; lower = -1 is outside, and value 0.
struct AxisTable {
  std::vector<std::int64_t> lower;
  std::vector<double> weight;
};
using AxisTables = std::array<AxisTable, 3>;

/// The result has one voxel per combination of entries, and no affine.
Volume resample_linear(const Volume& source, const AxisTables& tables, Rounding rounding,
                       int threads);
LabelMap resample_nearest(const LabelMap& source, const AxisTables& tables, int threads);

/// `to_source` takes voxels of the result to voxels of the source. Points within 1e-9 of an edge
/// are on it, and those within 1e-9 of the middle between two voxels belong to the upper one:
/// neither a face of the grid nor a label depends on rounding.
Volume resample_linear(const Volume& source, const Affine& to_source, const Shape3& shape,
                       Edge edge, Rounding rounding, int threads);
LabelMap resample_nearest(const LabelMap& source, const Affine& to_source, const Shape3& shape,
                          Edge edge, int threads);

}  // namespace ubique::data
