// SPDX-License-Identifier: Apache-2.0
// PNG pictures: 8 bits, grey, RGB or RGBA; grey of 16 bits is written too.
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

/// Grey of 16 bits.
struct DeepPicture {
  int width = 0, height = 0;
  std::vector<std::uint16_t> pixels;  ///< rows from the top
};

/// Small tries harder, which pays for drawings; Fast takes a fifth of the time, and photographs are
/// no larger for it.
enum class PngEffort { Small, Fast };

std::string png_bytes(const Picture& picture, PngEffort effort = PngEffort::Small);
std::string png_bytes(const DeepPicture& picture, PngEffort effort = PngEffort::Small);
void write_png(const std::filesystem::path& path, const Picture& picture);  ///< atomic
/// Input error for what is not a PNG or would be absurdly large; palettes and 16 bits are expanded.
Picture read_png(const std::filesystem::path& path);
/// The same from memory; `name` stands for the file in messages.
Picture parse_png(std::span<const std::byte> file, const std::string& name);

}  // namespace ubique::io
