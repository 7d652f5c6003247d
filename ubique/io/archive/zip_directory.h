// SPDX-License-Identifier: Apache-2.0
// The central directory of a zip archive, checked completely: each entry's header and data lie
// inside the file, overlap no other entry, and its name cannot leave the folder. Reads no data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ubique::io {

struct ZipEntry {
  std::string name;  ///< is_plain_zip_name
  bool deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t begin = 0;   ///< offset of the packed bytes
  std::uint64_t packed = 0;  ///< bytes as stored
  std::uint64_t size = 0;    ///< bytes unpacked
};

/// A relative path in UTF-8 without "..", backslashes, drive letters and control characters.
bool is_plain_zip_name(std::string_view name);

/// In the order of the directory, without folders. Input error for anything but plain zip or zip64
/// in one file: encrypted, spanned, another compression, names that leave the folder or occur
/// twice, impossible sizes.
std::vector<ZipEntry> parse_zip_directory(std::span<const std::byte> file, const std::string& name);

}  // namespace ubique::io
