// SPDX-License-Identifier: Apache-2.0
#include "ubique/io/jpeg_orientation.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "ubique/io/byte_order.h"

namespace ubique::io {
namespace {

using std::string_view_literals::operator""sv;

constexpr int kUpright = 1;
constexpr std::uint64_t kOrientationTag = 0x0112, kShortType = 3;
constexpr std::size_t kExifEntry = 12;

/// The TIFF part of an EXIF segment: numbers in either byte order, 0 beyond its end.
struct ExifNumbers {
  std::span<const std::byte> tiff;
  bool big = false;

  std::uint64_t at(std::uint64_t offset, std::size_t width) const {
    if (offset > tiff.size() || tiff.size() - offset < width) return 0;
    const auto bytes = tiff.subspan(offset, width);
    return big ? load_big(bytes) : load_little(bytes);
  }
};

}  // namespace

int exif_orientation(std::span<const std::byte> segment) {
  const std::string_view text(reinterpret_cast<const char*>(segment.data()), segment.size());
  constexpr auto kMark = "Exif\0\0"sv;
  if (!text.starts_with(kMark)) return kUpright;
  const auto order = text.substr(kMark.size(), 2);
  if (order != "II" && order != "MM") return kUpright;
  const ExifNumbers numbers{segment.subspan(kMark.size()), order == "MM"};
  const auto folder = numbers.at(4, 4);
  const auto entries = numbers.at(folder, 2);
  for (std::uint64_t i = 0; i < entries; ++i) {
    const auto entry = folder + 2 + i * kExifEntry;
    if (numbers.at(entry, 2) != kOrientationTag || numbers.at(entry + 2, 2) != kShortType) continue;
    const auto value = static_cast<int>(numbers.at(entry + 8, 2));
    return value >= 1 && value <= 8 ? value : kUpright;
  }
  return kUpright;
}

bool lies_on_its_side(int orientation) { return orientation >= 5; }

Picture turned_upright(Picture picture, int orientation) {
  if (orientation <= kUpright || orientation > 8) return picture;
  const int width = picture.width, height = picture.height;
  const auto channels = static_cast<std::size_t>(picture.channels);
  Picture out{width, height, picture.channels, {}};
  if (lies_on_its_side(orientation)) std::swap(out.width, out.height);
  out.pixels.resize(picture.pixels.size());
  const bool right_to_left = orientation == 2 || orientation == 3 || orientation == 7 ||
                             orientation == 8;  // in the stored picture, along the shown one
  const bool bottom_up =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  auto* to = out.pixels.data();
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      const int across = lies_on_its_side(orientation) ? y : x;
      const int down = lies_on_its_side(orientation) ? x : y;
      const auto column = static_cast<std::size_t>(right_to_left ? width - 1 - across : across);
      const auto row = static_cast<std::size_t>(bottom_up ? height - 1 - down : down);
      const auto from = (row * static_cast<std::size_t>(width) + column) * channels;
      to = std::copy_n(picture.pixels.data() + from, channels, to);
    }
  }
  return out;
}

}  // namespace ubique::io
