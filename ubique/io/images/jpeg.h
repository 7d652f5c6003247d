// SPDX-License-Identifier: Apache-2.0
// How a camera was held: read from the EXIF part of a JPEG, undone on pixels.
// JPEG pictures, grey or RGB. Knows nothing of colour profiles.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "ubique/io/images/png.h"

namespace ubique::io {

/// The EXIF orientation, 1 to 8, of an APP1 segment's content. 1, upright, where there is none or
/// it cannot be read: a damaged note must not cost the picture.
int exif_orientation(std::span<const std::byte> segment);

/// Whether width and height change places.
bool lies_on_its_side(int orientation);

/// The picture as people see it.
Picture turned_upright(Picture picture, int orientation);

/// What a camera notes about how it was held (EXIF): Upright turns the picture as people see it,
/// AsStored leaves the pixels as they lie in the file.
enum class Turn { Upright, AsStored };

struct PictureSize {
  int width = 0, height = 0;
  bool operator==(const PictureSize&) const = default;
};

/// Grey or RGB; CMYK and YCCK become RGB, as printers' inks without a profile. Input error for what
/// is no JPEG, is cut short or damaged, or would be absurdly large.
Picture read_jpeg(const std::filesystem::path& path, Turn turn = Turn::Upright);
/// The same from memory; `name` stands for the file in messages.
Picture parse_jpeg(std::span<const std::byte> file, const std::string& name,
                   Turn turn = Turn::Upright);
/// From the header alone.
PictureSize jpeg_size(std::span<const std::byte> file, const std::string& name,
                      Turn turn = Turn::Upright);

inline constexpr int kJpegQuality = 95;

/// Grey or RGB; quality 1 to 100, at 90 and more without halving the colours' resolution. Usage
/// error for another quality, Input error for a side beyond 65,500 pixels, Internal error for RGBA.
std::string jpeg_bytes(const Picture& picture, int quality = kJpegQuality);
void write_jpeg(const std::filesystem::path& path, const Picture& picture,
                int quality = kJpegQuality);  ///< atomic

}  // namespace ubique::io
