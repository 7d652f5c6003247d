// SPDX-License-Identifier: Apache-2.0
// The ways of conforming, one by one, on grids: what conform() chooses among. Spacing may differ
// between axes here.
#pragma once

#include "ubique/data/scans/conform/conform.h"
#include "ubique/data/scans/conform/resample.h"

namespace ubique::data {

/// The grid that comes out.
struct TargetGrid {
  Shape3 shape{256, 256, 256};
  std::array<double, 3> spacing{1, 1, 1};  ///< mm
};

/// As SciPy's zoom (corner aligned, order 1; order 0 for masks), then centre crop, then centre pad.
/// Takes grids in canonical axes. Input error for a scan thinner than half a voxel of the target.
Volume zoom_to(const Volume& canonical, const TargetGrid& target, int threads);
LabelMap zoom_to(const LabelMap& canonical, const TargetGrid& target, int threads);

/// The grid of nibabel's conform: the source's directions, voxel (n - 1) / 2 staying in its place.
Affine centred_affine(const Shape3& shape, const Affine& canonical, const TargetGrid& target);
Volume resample_centred(const Volume& canonical, const TargetGrid& target, Rounding rounding,
                        int threads);

/// The grid of the browser: the scanner's directions in LIA order, the middles n / 2 (of the file's
/// own axes) in one place.
Affine browser_affine(const Shape3& shape, const Affine& affine, const TargetGrid& target);
/// Values 0 to 255, whole numbers.
Volume conform_for_browser(const Scan& scan, const TargetGrid& target, int threads);

/// What the browser takes off and multiplies by to get 8 bits.
struct RobustScale {
  double low = 0;
  double factor = 1;
};
RobustScale robust_scale(const std::vector<float>& values);

}  // namespace ubique::data
