// SPDX-License-Identifier: Apache-2.0
// The methods that conform() chooses among, as functions on grids.
#pragma once

#include "ubique/data/scans/conform/conform.h"
#include "ubique/data/scans/conform/resample.h"

namespace ubique::data {

/// The grid to resample to.
struct TargetGrid {
  Shape3 shape{256, 256, 256};
  std::array<double, 3> spacing{1, 1, 1};  ///< mm
};

/// As SciPy's zoom (corner aligned, order 1; order 0 for masks), then centre crop, then centre pad.
/// Takes grids in canonical axes. Input error for a scan thinner than half a voxel of the target.
Volume zoom_to(const Volume& canonical, const TargetGrid& target, int threads);
LabelMap zoom_to(const LabelMap& canonical, const TargetGrid& target, int threads);

/// The grid of nibabel's conform: the source's directions (axes never mix), with the central voxel
/// (n - 1) / 2 at the same world position.
Affine centred_affine(const Shape3& shape, const Affine& canonical, const TargetGrid& target);
Volume resample_centred(const Volume& canonical, const TargetGrid& target, Rounding rounding,
                        int threads);

/// BrainChop's grid: world directions in LIA order, with the centres n / 2 (in the file's own axes)
/// at the same world position.
Affine browser_affine(const Shape3& shape, const Affine& affine, const TargetGrid& target);
/// As BrainChop's browser application: LIA axes, whole numbers 0 to 255, white where the top
/// thousandth of the non-zero voxels begins.
Volume conform_for_browser(const Scan& scan, const TargetGrid& target, int threads);

/// 8 bits = factor * (value - low), clamped.
struct RobustScale {
  double low = 0;
  double factor = 1;
};
RobustScale robust_scale(const std::vector<float>& values);

}  // namespace ubique::data
