// SPDX-License-Identifier: Apache-2.0
// Gaussian blur as SciPy's gaussian_filter does it (mode reflect, truncate 4) and as the MIT
// benchmark does it (in the Fourier domain), and the maps that are made of fixations with them.
#pragma once

#include <span>

#include "ubique/data/images/image.h"

namespace ubique::data {

/// In place on a map of height x width. Sums are kept in T: in double equal to SciPy's to 1e-15 of
/// the largest value, in float to 1e-6. Internal error unless sigma is above 0 and the map fits.
template <typename T>
void gaussian_blur(std::span<T> map, FrameSize size, double sigma, int threads = 1);

/// What the MIT benchmark's MATLAB code does with fixations (antonioGaussian): the map lies in the
/// upper left of a square of zeros whose side n is a power of two and at least the map's longer
/// side; its spectrum is multiplied by exp(-ln 2 (u^2 + v^2) / cycles^2), u and v counting cycles
/// per n pixels; what wraps around the square stays, the square is cut back to the map. So
/// `cycles` (theirs is 8) is where half of the amplitude is left. The filter is a product of two,
/// so it is computed as sums over rows and columns, exactly. Internal error as above.
void fourier_blur(std::span<float> map, FrameSize size, double cycles, int threads = 1);

inline constexpr double kMitCycles = 8;

/// How fixations become a map: with a sigma in pixels, or, where cycles are above 0, by
/// fourier_blur.
struct FixationBlur {
  double sigma = 16;
  double cycles = 0;
};

/// 1 at each pixel that was looked at (once or often), 0 elsewhere; places are cut to whole pixels,
/// those outside count nowhere.
Image fixation_pixels(std::span<const Fixation> fixations, FrameSize size);

/// Fixations as a map to train on: their pixels, blurred, stretched to 0..255. Input error, which
/// begins with `name`, where no fixation lies in the picture.
Image fixation_map(std::span<const Fixation> fixations, FrameSize size, const FixationBlur& blur,
                   const std::string& name, int threads = 1);

}  // namespace ubique::data
