// SPDX-License-Identifier: Apache-2.0
// Pictures of any kind that we read or write: PNG and JPEG, told apart by their content.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "ubique/io/images/jpeg.h"
#include "ubique/io/images/png.h"

namespace ubique::io {

/// PNG (palettes and 16 bits are expanded to 8) or JPEG, whatever the file is called. Input error
/// for anything else, for damaged files and for those of more than 2^28 pixels.
Picture read_image(const std::filesystem::path& path, Turn turn = Turn::Upright);
Picture parse_image(std::span<const std::byte> file, const std::string& name,
                    Turn turn = Turn::Upright);
/// From the header alone.
PictureSize image_size(const std::filesystem::path& path, Turn turn = Turn::Upright);

/// .png, .jpg or .jpeg, in any case: those that read_image reads and write_image writes.
bool is_image_name(const std::filesystem::path& path);
/// By the name's ending; `quality` is for JPEG. Usage error for another ending. Atomic.
void write_image(const std::filesystem::path& path, const Picture& picture,
                 int quality = kJpegQuality);

/// Three channels: grey three times, transparency left out.
Picture as_rgb(Picture picture);
/// One channel: the brightness (0.299 R + 0.587 G + 0.114 B, rounded), transparency left out.
Picture as_grey(Picture picture);

}  // namespace ubique::io
