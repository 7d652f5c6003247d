// SPDX-License-Identifier: Apache-2.0
// PNG and JPEG pictures, told apart by their content when read and by their name when written.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "ubique/io/images/jpeg.h"
#include "ubique/io/images/png.h"

namespace ubique::io {

/// PNG (palettes and 16 bits are converted to 8 bits) or JPEG, whatever its name. Input error for
/// other formats, damaged files and more than 2^28 pixels.
Picture read_image(const std::filesystem::path& path,
                   ExifOrientation exif = ExifOrientation::Apply);
Picture parse_image(std::span<const std::byte> file, const std::string& name,
                    ExifOrientation exif = ExifOrientation::Apply);
/// From the header alone.
PictureSize image_size(const std::filesystem::path& path,
                       ExifOrientation exif = ExifOrientation::Apply);

/// Whether the name ends in .png, .jpg or .jpeg, in any case.
bool is_image_name(const std::filesystem::path& path);
/// Chooses the format by the name's ending; `quality` is for JPEG. Usage error for another ending.
/// Atomic.
void write_image(const std::filesystem::path& path, const Picture& picture,
                 int quality = kJpegQuality);

/// Three channels: grey is repeated, alpha is dropped.
Picture as_rgb(Picture picture);
/// One channel: the luma (0.299 R + 0.587 G + 0.114 B, rounded); alpha is dropped.
Picture as_grey(Picture picture);

}  // namespace ubique::io
