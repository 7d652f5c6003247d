// SPDX-License-Identifier: Apache-2.0
// The list of entries at the end of a zip archive, checked completely: each entry's header and data
// lie in the file, overlap no other and have a name that stays in its folder. Reads no data.
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
  std::uint64_t begin = 0;   ///< of the packed bytes in the file
  std::uint64_t packed = 0;  ///< bytes in the file
  std::uint64_t size = 0;    ///< bytes unpacked
};

/// Relative, in UTF-8, without "..", backslashes, drives and control characters.
bool is_plain_zip_name(std::string_view name);

/// In the order of the list; folders are left out. Input error for anything else than plain zip or
/// zip64 in one piece: encrypted, spanned, another compression, names that leave the folder or are
/// given twice, sizes that no compression could reach.
std::vector<ZipEntry> parse_zip_directory(std::span<const std::byte> file, const std::string& name);

}  // namespace ubique::io
