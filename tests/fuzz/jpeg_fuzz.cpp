// SPDX-License-Identifier: Apache-2.0
// Any bytes as a JPEG: an Input error, or a picture whose pixels fill it and that can be written.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "ubique/base/error.h"
#include "ubique/io/images/jpeg.h"

using namespace ubique;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const auto picture = io::parse_jpeg(bytes, "fuzz");
    require(picture.width > 0 && picture.height > 0);
    require(picture.pixels.size() == static_cast<std::size_t>(picture.width) *
                                         static_cast<std::size_t>(picture.height) *
                                         static_cast<std::size_t>(picture.channels));
    require(io::jpeg_size(bytes, "fuzz") == io::PictureSize{picture.width, picture.height});
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::Input);
  }
  return 0;
}
