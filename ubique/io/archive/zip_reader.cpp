// SPDX-License-Identifier: Apache-2.0
// Reads and checks the data of zip entries.
#include "ubique/io/archive/zip_reader.h"

#include <zlib.h>

#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/archive/gzip.h"
#include "ubique/io/archive/zip_deflate.h"

namespace ubique::io {

ZipReader::ZipReader(std::span<const std::byte> file, std::string name)
    : file_(file), name_(std::move(name)), entries_(parse_zip_directory(file_, name_)) {
  std::uint64_t packed = 0, unpacked = 0;  // of all entries: many small ones fill memory too
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    by_name_.emplace(entries_[i].name, i);
    if (!entries_[i].deflated) continue;
    packed += entries_[i].packed;
    unpacked += entries_[i].size;
  }
  check_inflation(packed, unpacked, fmt::format("[io.zip] {}", name_));
}

const ZipEntry* ZipReader::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &entries_[found->second];
}

std::span<const std::byte> ZipReader::read(const ZipEntry& entry,
                                           std::vector<std::byte>& buffer) const {
  auto bytes = file_.subspan(entry.begin, entry.packed);
  if (entry.deflated) {
    auto inflated = inflate_raw(bytes, entry.size);
    check(inflated.has_value(), ErrorKind::Input,
          "[io.zip] {}: entry '{}' does not unpack; expected {} bytes from {} deflated ones. The "
          "file is damaged.",
          name_, printable(entry.name), entry.size, entry.packed);
    buffer = std::move(*inflated);
    bytes = buffer;
  }
  const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  check(crc == entry.crc, ErrorKind::Input,
        "[io.zip] {}: entry '{}' has the wrong checksum; got {:08x}, expected {:08x}. The file is "
        "damaged.",
        name_, printable(entry.name), crc, entry.crc);
  return bytes;
}

std::string ZipReader::read_text(const ZipEntry& entry) const {
  std::vector<std::byte> buffer;
  const auto bytes = read(entry, buffer);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace ubique::io
