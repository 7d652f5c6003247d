// SPDX-License-Identifier: Apache-2.0
// PNG pictures, read and written: 8 bits, grey, RGB or RGBA; 16-bit grey is written only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace ubique::io {

struct Picture {
  int width = 0, height = 0;
  int channels = 3;                  ///< 1 grey, 3 RGB, 4 RGBA
  std::vector<std::uint8_t> pixels;  ///< rows from the top, channels interleaved
};

/// 16-bit grey.
struct DeepPicture {
  int width = 0, height = 0;
  std::vector<std::uint16_t> pixels;  ///< rows from the top
};

/// Small compresses harder, which pays off for drawings; Fast takes a fifth of the time, and
/// photographs get no larger.
enum class PngEffort { Small, Fast };

std::string png_bytes(const Picture& picture, PngEffort effort = PngEffort::Small);
std::string png_bytes(const DeepPicture& picture, PngEffort effort = PngEffort::Small);
void write_png(const std::filesystem::path& path, const Picture& picture);  ///< atomic
/// Palettes and 16 bits are converted to 8 bits. Input error for files that are no PNG or too
/// large.
Picture read_png(const std::filesystem::path& path);
/// The same from memory; error messages call the file `name`.
Picture parse_png(std::span<const std::byte> file, const std::string& name);

}  // namespace ubique::io
