// SPDX-License-Identifier: Apache-2.0
// A map without learning that a network must beat: what has another colour than the rest.
#pragma once

#include <vector>

#include "ubique/io/images/png.h"

namespace ubique::msinet {

/// How far the colour of each pixel is from the picture's median colour (channel by channel, then
/// Euclid's distance), blurred with that deviation in pixels. width x height values. Internal error
/// unless the picture is RGB.
std::vector<float> colour_distance(const io::Picture& picture, double sigma);

}  // namespace ubique::msinet
