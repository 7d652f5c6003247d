// SPDX-License-Identifier: Apache-2.0
// Reads zip archives from memory: stored and deflated entries, zip64, each checked by its CRC.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/io/archive/zip_directory.h"

namespace ubique::io {

class ZipReader {
 public:
  /// `file` must outlive this; error messages call it `name`. Input error for an archive that grows
  /// beyond what real data do when unpacked (check_inflation).
  ZipReader(std::span<const std::byte> file, std::string name);

  const std::string& name() const { return name_; }
  const std::vector<ZipEntry>& entries() const { return entries_; }
  const ZipEntry* find(std::string_view name) const;  ///< null if there is none

  /// The entry's bytes: a view into the file if it is stored, else inflated into `buffer`. Input
  /// error if size or checksum differ from what the archive states.
  std::span<const std::byte> read(const ZipEntry& entry, std::vector<std::byte>& buffer) const;
  std::string read_text(const ZipEntry& entry) const;

 private:
  std::span<const std::byte> file_;
  std::string name_;
  std::vector<ZipEntry> entries_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
};

}  // namespace ubique::io
