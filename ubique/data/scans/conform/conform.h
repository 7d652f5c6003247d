// SPDX-License-Identifier: Apache-2.0
// From a scan as the scanner left it to the cube a network takes, in the exact ways of the systems
// whose networks we run, and back. Which way a network was trained with is part of its
// configuration.
#pragma once

#include <string>
#include <vector>

#include "ubique/data/scans/volume/volume.h"

namespace ubique::data {

/// ScipyZoom, NibabelConform: the two of arc-meshchop (RAS). Brainchop: as the browser does it
/// (LIA, robust 8 bits). None: the scan's own grid, canonical axes.
enum class ConformMethod { ScipyZoom, NibabelConform, Brainchop, None };

std::string_view to_string(ConformMethod method);  ///< "scipy_zoom", "nibabel_conform", ...
ConformMethod parse_conform_method(std::string_view text);  ///< Usage error, did you mean

struct ConformTarget {
  ConformMethod method = ConformMethod::ScipyZoom;
  Shape3 shape{256, 256, 256};
  double spacing = 1;  ///< mm, along every axis
};

/// How intensities become the network's input.
enum class Normalization { MinMax, Quantile, ZScore, None };
std::string_view to_string(Normalization normalization);  ///< "min_max", "quantile", ...
Normalization parse_normalization(std::string_view text);

/// A conformed volume with the affine of its own grid. For ScipyZoom the affine says which native
/// voxel each one came from (corner aligned), so that labels find their way back exactly.
Volume conform(const Scan& scan, const ConformTarget& target, int threads = 1);

/// A mask (> 0) on the conformed grid of `image`: ScipyZoom works from the mask's own affine,
/// NibabelConform and Brainchop resample onto the image's grid. Input error if the two do not
/// belong together: ScipyZoom and None want the same shape and spacing in RAS axes, the others two
/// grids that overlap in the world.
LabelMap conform_mask(const Scan& mask, const Scan& image, const ConformTarget& target,
                      int threads = 1);

/// That check alone; needs no more of the two than shape, affine and name.
void check_mask_fits(const Scan& mask, const Scan& image, ConformMethod method);

/// In place, over the whole volume, in f32; a flat volume becomes zeros. `low` and `high` are the
/// shares of Quantile (0.05, 0.95), by sorting, not clipped; Input error where the two quantiles
/// are the same although the volume is not flat.
void normalize(Volume& volume, Normalization how, double low = 0.05, double high = 0.95,
               int threads = 1);

/// Labels on `like`'s grid by the nearest conformed voxel; outside the cube 0.
LabelMap to_native(const LabelMap& conformed, const Scan& like, int threads = 1);
/// Probabilities on `like`'s grid, linear; outside the cube 0.
Volume to_native(const Volume& conformed, const Scan& like, int threads = 1);

}  // namespace ubique::data
