// SPDX-License-Identifier: Apache-2.0
// JPEG pictures, grey or RGB. Knows nothing of colour profiles.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "ubique/io/png.h"

namespace ubique::io {

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
