// SPDX-License-Identifier: Apache-2.0
// Gaussian blur of points, as SciPy's gaussian_filter does it (mirrored at the edges, kernel
// truncated at four standard deviations), but only over rows that have points.
#pragma once

#include <span>
#include <vector>

#include "ubique/models/msinet/score/metric.h"

namespace ubique::msinet {

/// Each point adds a Gaussian of mass 1 and standard deviation `sigma` (pixels; 0: one pixel) at
/// the centre of its pixel. Input error for a point outside of the map.
std::vector<double> blur_points(std::span<const MapPoint> points, int width, int height,
                                double sigma);

}  // namespace ubique::msinet
