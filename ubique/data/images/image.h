// SPDX-License-Identifier: Apache-2.0
// A picture or map as floats, for computation. Files and 8-bit pixels are in ubique/io/images.
#pragma once

#include <cstddef>
#include <vector>

#include "ubique/io/images/png.h"

namespace ubique::data {

struct Image {
  int height = 0, width = 0, channels = 1;
  std::vector<float> values;  ///< (H, W, C), rows from the top; pictures are 0 to 255

  std::size_t row() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(channels);
  }
  std::size_t size() const { return row() * static_cast<std::size_t>(height); }
};

/// A point in a picture, in pixels: x to the right, y down, (0, 0) is the upper left pixel.
struct Fixation {
  double x = 0, y = 0;
  bool operator==(const Fixation&) const = default;
};

struct FrameSize {
  int height = 0, width = 0;
  bool operator==(const FrameSize&) const = default;
};

Image to_image(const io::Picture& picture);
/// Rounded half to even, clamped to 0..255.
io::Picture to_picture(const Image& image);

}  // namespace ubique::data
