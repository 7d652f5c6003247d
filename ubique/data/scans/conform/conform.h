// SPDX-License-Identifier: Apache-2.0
// Conforms a scan: resamples it to the grid a network takes, exactly as the systems do whose
// networks we run. The method a network was trained with is part of its configuration.
#pragma once

#include <array>
#include <string_view>

#include "ubique/data/scans/volume/scan.h"

namespace ubique::data {

/// ScipyZoom, NibabelConform: arc-meshchop's two methods (RAS). Brainchop: as in its browser
/// application (LIA, robust 8 bits). None: the scan's own grid, canonical axes.
enum class ConformMethod { ScipyZoom, NibabelConform, Brainchop, None };

std::string_view to_string(ConformMethod method);  ///< "scipy_zoom", "nibabel_conform", ...
ConformMethod parse_conform_method(std::string_view text);  ///< Usage error, did you mean

/// Millimetres per voxel along each axis of a grid; one number stands for all three.
struct Spacing3 : std::array<double, 3> {
  Spacing3(double every = 1) : array{every, every, every} {}
  Spacing3(double i, double j, double k) : array{i, j, k} {}
  Spacing3(const array& each) : array(each) {}
};

struct ConformTarget {
  ConformMethod method = ConformMethod::ScipyZoom;
  Shape3 shape{256, 256, 256};
  Spacing3 spacing;  ///< along the axes of the result, as `shape`
};

/// The conformed volume with the affine of its grid. For ScipyZoom the affine maps each voxel to
/// the native voxel it was sampled from (corner aligned), so that to_native() inverts it exactly.
Volume conform(const Scan& scan, const ConformTarget& target, int threads = 1);

/// A mask (> 0) on the conformed grid of `image`: ScipyZoom works from the mask's own affine,
/// NibabelConform and Brainchop resample onto the image's grid. Input error if mask and image do
/// not match: ScipyZoom and None need the same shape and spacing in RAS axes, the others two grids
/// that overlap in world coordinates.
LabelMap conform_mask(const Scan& mask, const Scan& image, const ConformTarget& target,
                      int threads = 1);

/// That check alone; uses only shape, affine and name.
void check_mask_fits(const Scan& mask, const Scan& image, ConformMethod method);

/// As conform_mask(), for labels 0 to classes - 1; two classes are a mask (> 0). Input error for
/// any other value.
LabelMap conform_labels(const Scan& labels, const Scan& image, const ConformTarget& target,
                        std::int64_t classes, int threads = 1);

}  // namespace ubique::data
