// SPDX-License-Identifier: Apache-2.0
// Gaussian blur as in SciPy's gaussian_filter (mode reflect, truncate 4) and as in the MIT
// benchmark (in the Fourier domain), and fixation maps made with them.
#pragma once

#include <span>

#include "ubique/data/images/image.h"

namespace ubique::data {

/// In place on a map of height x width. Accumulates in T: relative to the maximum, double agrees
/// with SciPy to 1e-15, float to 1e-6. Internal error unless sigma is above 0 and the map has that
/// size.
template <typename T>
void gaussian_blur(std::span<T> map, FrameSize size, double sigma, int threads = 1);

/// The blur of the MIT benchmark's MATLAB code (antonioGaussian): the map is zero-padded at the
/// bottom and right to a square whose side n is a power of two, its spectrum is multiplied by
/// exp(-ln 2 (u^2 + v^2) / cycles^2), u and v in cycles per n pixels, and the result (with its
/// wrap-around) is cropped to the map. `cycles` is the cutoff at which half of the amplitude is
/// left (theirs is 8). The filter is separable, so it is computed exactly as circular convolutions
/// over rows and columns. Internal error as above.
void fourier_blur(std::span<float> map, FrameSize size, double cycles, int threads = 1);

inline constexpr double kMitCycles = 8;

/// How fixations become a map: gaussian_blur with a sigma in pixels, or fourier_blur where cycles
/// is above 0.
struct FixationBlur {
  double sigma = 16;
  double cycles = 0;
};

/// 1 at each fixated pixel, 0 elsewhere; coordinates are truncated to whole pixels, those outside
/// the picture are ignored.
Image fixation_pixels(std::span<const Fixation> fixations, FrameSize size);

/// A saliency map to train on: fixated pixels, blurred, scaled to 0..255. Input error that names
/// `name` if no fixation is inside the picture.
Image fixation_map(std::span<const Fixation> fixations, FrameSize size, const FixationBlur& blur,
                   const std::string& name, int threads = 1);

}  // namespace ubique::data
