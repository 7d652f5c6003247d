// SPDX-License-Identifier: Apache-2.0
// Integers of any width in files of either byte order, on machines of either byte order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ubique::io {

inline constexpr bool kLittleMachine = std::endian::native == std::endian::little;

/// `bytes` (at most 8) as one little-endian integer.
inline std::uint64_t load_little(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8U | std::to_integer<std::uint64_t>(bytes[i]);
  }
  return value;
}

/// The same, big-endian.
inline std::uint64_t load_big(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (const auto byte : bytes) value = value << 8U | std::to_integer<std::uint64_t>(byte);
  return value;
}

inline void append_little(std::string& out, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) out += static_cast<char>(value >> (8 * i) & 0xFFU);
}

/// Reverses the bytes of each number of `width` bytes, in place.
inline void swap_byte_order(std::span<std::byte> bytes, std::size_t width) {
  for (std::size_t i = 0; width > 1 && i + width <= bytes.size(); i += width) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + width));
  }
}

}  // namespace ubique::io
