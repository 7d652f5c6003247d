// SPDX-License-Identifier: Apache-2.0
// Results of a network on a conformed grid, resampled to the scan's own grid.
#pragma once

#include "ubique/data/scans/volume/scan.h"

namespace ubique::data {

/// Labels on `like`'s grid by the nearest conformed voxel; 0 outside the conformed grid.
LabelMap to_native(const LabelMap& conformed, const Scan& like, int threads = 1);
/// Probabilities on `like`'s grid, linear; 0 outside the conformed grid.
Volume to_native(const Volume& conformed, const Scan& like, int threads = 1);

}  // namespace ubique::data
