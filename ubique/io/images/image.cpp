// SPDX-License-Identifier: Apache-2.0
// Chooses between PNG and JPEG; converts between grey, RGB and RGBA.
#include "ubique/io/images/image.h"

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/text.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/archive/file_type.h"

namespace ubique::io {
namespace {

enum class ImageKind { Png, Jpeg };

ImageKind image_kind(std::span<const std::byte> file, const std::string& name) {
  const auto what = looks_like(file);
  if (what == "a PNG picture") return ImageKind::Png;
  if (what == "a JPEG picture") return ImageKind::Jpeg;
  fail(ErrorKind::Input, "[io.image] {} is no picture that can be read; it looks like {}, {}", name,
       looks_like_or_unknown(file), "expected PNG or JPEG. Convert it to one of them first.");
}

/// From the IHDR chunk, which must come first: width and height at byte 16.
PictureSize png_size(std::span<const std::byte> file, const std::string& name) {
  constexpr std::size_t kSizeAt = 16, kSizeEnd = 24;
  constexpr std::uint64_t kLongestSide = 0x7FFF'FFFF;
  check(file.size() >= kSizeEnd, ErrorKind::Input, "[io.image] {} is cut short; got {} bytes.",
        name, file.size());
  const auto width = load_big(file.subspan(kSizeAt, 4));
  const auto height = load_big(file.subspan(kSizeAt + 4, 4));
  check(width >= 1 && height >= 1 && width <= kLongestSide && height <= kLongestSide,
        ErrorKind::Input, "[io.image] {} is damaged; its header says {} x {} pixels.", name, width,
        height);
  return {static_cast<int>(width), static_cast<int>(height)};
}

std::string image_ending(const std::filesystem::path& path) {
  return lowercase(path.extension().string());
}

std::size_t pixel_count(const Picture& picture) {
  return static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height);
}

}  // namespace

Picture parse_image(std::span<const std::byte> file, const std::string& name,
                    ExifOrientation exif) {
  return image_kind(file, name) == ImageKind::Png ? parse_png(file, name)
                                                  : parse_jpeg(file, name, exif);
}

Picture read_image(const std::filesystem::path& path, ExifOrientation exif) {
  const MappedFile file(path);
  return parse_image(file.bytes(), path.string(), exif);
}

PictureSize image_size(const std::filesystem::path& path, ExifOrientation exif) {
  const MappedFile file(path);
  const auto name = path.string();
  return image_kind(file.bytes(), name) == ImageKind::Png ? png_size(file.bytes(), name)
                                                          : jpeg_size(file.bytes(), name, exif);
}

bool is_image_name(const std::filesystem::path& path) {
  const auto ending = image_ending(path);
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

void write_image(const std::filesystem::path& path, const Picture& picture, int quality) {
  check(is_image_name(path), ErrorKind::Usage,
        "[io.image] unknown kind of picture; got '{}', expected a name that ends in .png, .jpg or "
        ".jpeg.",
        path.string());
  if (image_ending(path) == ".png") return write_png(path, picture);
  write_jpeg(path, picture.channels == 4 ? as_rgb(picture) : picture, quality);
}

Picture as_rgb(Picture picture) {
  if (picture.channels == 3) return picture;
  Picture out{picture.width, picture.height, 3, {}};
  const auto count = pixel_count(picture);
  const auto step = static_cast<std::size_t>(picture.channels);
  out.pixels.resize(count * 3);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      out.pixels[i * 3 + c] = picture.pixels[i * step + (step == 4 ? c : 0)];
    }
  }
  return out;
}

Picture as_grey(Picture picture) {
  if (picture.channels == 1) return picture;
  Picture out{picture.width, picture.height, 1, {}};
  const auto count = pixel_count(picture);
  const auto step = static_cast<std::size_t>(picture.channels);
  out.pixels.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto* rgb = picture.pixels.data() + i * step;
    const int sum = 299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2];
    out.pixels[i] = static_cast<std::uint8_t>((sum + 500) / 1000);
  }
  return out;
}

}  // namespace ubique::io
