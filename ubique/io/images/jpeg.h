// SPDX-License-Identifier: Apache-2.0
// JPEG pictures, grey or RGB, read and written; applies the EXIF orientation. Ignores colour
// profiles.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "ubique/io/images/png.h"

namespace ubique::io {

/// The EXIF orientation, 1 to 8, in an APP1 segment. 1, upright, if there is none or it cannot be
/// read: damaged EXIF data must not make the picture unreadable.
int exif_orientation(std::span<const std::byte> segment);

/// Whether applying the orientation swaps width and height.
bool swaps_sides(int orientation);

/// The picture with its EXIF orientation applied.
Picture apply_exif_orientation(Picture picture, int orientation);

/// Whether the EXIF orientation, by which a camera notes how it was held, is applied: Ignore gives
/// the pixels as stored.
enum class ExifOrientation { Apply, Ignore };

struct PictureSize {
  int width = 0, height = 0;
  bool operator==(const PictureSize&) const = default;
};

/// Grey or RGB; CMYK and YCCK are converted to RGB without a profile. Input error for files that
/// are no JPEG, cut short, damaged or too large.
Picture read_jpeg(const std::filesystem::path& path, ExifOrientation exif = ExifOrientation::Apply);
/// The same from memory; error messages call the file `name`.
Picture parse_jpeg(std::span<const std::byte> file, const std::string& name,
                   ExifOrientation exif = ExifOrientation::Apply);
/// From the header alone.
PictureSize jpeg_size(std::span<const std::byte> file, const std::string& name,
                      ExifOrientation exif = ExifOrientation::Apply);

inline constexpr int kJpegQuality = 95;

/// Grey or RGB; quality 1 to 100, from 90 on without chroma subsampling. Usage error for another
/// quality, Input error for a side of more than 65,500 pixels, Internal error for RGBA.
std::string jpeg_bytes(const Picture& picture, int quality = kJpegQuality);
void write_jpeg(const std::filesystem::path& path, const Picture& picture,
                int quality = kJpegQuality);  ///< atomic

}  // namespace ubique::io
