// SPDX-License-Identifier: Apache-2.0
// Writes zip archives, entry by entry. Always zip64, so that small tests cover what large files
// need; every date is 1980-01-01, so that equal content gives equal bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "ubique/base/files/file.h"

namespace ubique::io {

class ZipWriter {
 public:
  /// The file appears at commit(), complete or not at all.
  explicit ZipWriter(const std::filesystem::path& path) : file_(path) {}

  /// Names are relative paths, each used once. The data begin at a multiple of `alignment`.
  void store(const std::string& name, std::span<const std::byte> bytes, std::size_t alignment = 1);
  void store(const std::string& name, std::string_view text);
  void deflate(const std::string& name, std::span<const std::byte> bytes);
  void commit();

 private:
  struct Written {
    std::string name;
    std::uint16_t method = 0;
    std::uint32_t crc = 0;
    std::uint64_t packed = 0, size = 0, begin = 0;
  };

  void add(Written entry, std::span<const std::byte> packed, std::size_t alignment);

  AtomicFile file_;
  std::vector<Written> entries_;
};

}  // namespace ubique::io
