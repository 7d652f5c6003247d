// SPDX-License-Identifier: Apache-2.0
// A baseline map without learning: distance of each pixel's colour from the median colour.
#pragma once

#include <vector>

#include "ubique/io/images/png.h"

namespace ubique::msinet {

/// Euclidean distance of each pixel from the picture's median colour (median per channel), blurred
/// with standard deviation `sigma` in pixels. width x height values. Internal error unless RGB.
std::vector<float> colour_distance(const io::Picture& picture, double sigma);

}  // namespace ubique::msinet
