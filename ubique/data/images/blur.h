// SPDX-License-Identifier: Apache-2.0
// Gaussian blur as SciPy's gaussian_filter does it (mode reflect, truncate 4), and the maps that
// are made of fixations with it.
#pragma once

#include <span>

#include "ubique/data/images/image.h"

namespace ubique::data {

/// In place on a map of height x width. Sums are kept in T: in double equal to SciPy's to 1e-15 of
/// the largest value, in float to 1e-6. Internal error unless sigma is above 0 and the map fits.
template <typename T>
void gaussian_blur(std::span<T> map, FrameSize size, double sigma, int threads = 1);

/// 1 at each pixel that was looked at (once or often), 0 elsewhere; places are cut to whole pixels,
/// those outside count nowhere.
Image fixation_pixels(std::span<const Fixation> fixations, FrameSize size);

/// Fixations as a map to train on: their pixels, blurred, stretched to 0..255. Input error, which
/// begins with `name`, where no fixation lies in the picture.
Image fixation_map(std::span<const Fixation> fixations, FrameSize size, double sigma,
                   const std::string& name, int threads = 1);

}  // namespace ubique::data
