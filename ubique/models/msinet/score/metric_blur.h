// SPDX-License-Identifier: Apache-2.0
// Points to a smooth map, as SciPy's gaussian_filter does it (mirrored at the edges, kernel cut at
// four deviations), but only where there are points.
#pragma once

#include <span>
#include <vector>

#include "ubique/models/msinet/score/metric.h"

namespace ubique::msinet {

/// Each point adds a Gaussian of mass 1 and deviation `sigma` (pixels; 0 leaves points as they are)
/// around the middle of its pixel. Input error for a point outside of the map.
std::vector<double> blur_points(std::span<const MapPoint> points, int width, int height,
                                double sigma);

}  // namespace ubique::msinet
