// SPDX-License-Identifier: Apache-2.0
// Conversion between 8-bit pictures and float images.
#include "ubique/data/images/image.h"

#include <algorithm>
#include <cmath>

namespace ubique::data {

Image to_image(const io::Picture& picture) {
  Image image{picture.height, picture.width, picture.channels, {}};
  image.values.assign(picture.pixels.begin(), picture.pixels.end());
  return image;
}

io::Picture to_picture(const Image& image) {
  io::Picture picture{image.width, image.height, image.channels, {}};
  picture.pixels.resize(image.values.size());
  std::ranges::transform(image.values, picture.pixels.begin(), [](float value) {
    return static_cast<std::uint8_t>(std::nearbyint(std::clamp(value, 0.0F, 255.0F)));
  });
  return picture;
}

}  // namespace ubique::data
