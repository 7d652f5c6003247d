// SPDX-License-Identifier: Apache-2.0
// Any bytes as a JPEG: an Input error, or a picture with as many pixels as its size says.
#include <span>

#include "tests/fuzz/fuzz.h"
#include "ubique/io/images/jpeg.h"

using namespace ubique;
using fuzz::require;

void fuzz::test_input(std::span<const std::byte> input) {
  const auto picture = io::parse_jpeg(input, "fuzz");
  require(picture.width > 0 && picture.height > 0);
  require(picture.pixels.size() == static_cast<std::size_t>(picture.width) *
                                       static_cast<std::size_t>(picture.height) *
                                       static_cast<std::size_t>(picture.channels));
  require(io::jpeg_size(input, "fuzz") == io::PictureSize{picture.width, picture.height});
}
