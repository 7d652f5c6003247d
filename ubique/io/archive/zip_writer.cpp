// SPDX-License-Identifier: Apache-2.0
// Local headers, data and the central directory of a zip64 archive.
#include "ubique/io/archive/zip_writer.h"

#include <zlib.h>

#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/archive/zip_deflate.h"
#include "ubique/io/archive/zip_directory.h"
#include "ubique/io/archive/zip_format.h"

namespace ubique::io {
namespace {

constexpr std::uint64_t kZip64Version = 45;
constexpr std::uint64_t kFirstDay = 0x00210000;  // midnight, then 1980-01-01
constexpr std::size_t kLongestEntryName = 0xFFFF;
constexpr std::size_t kLocalExtra = 4 + 16;
constexpr std::size_t kCentralExtra = 4 + 24;

std::uint32_t crc_of(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// The fields that an entry's local and central header share: version, flags, method, date,
/// checksum and sizes.
void append_common(std::string& out, std::uint16_t method, std::uint32_t crc) {
  append_little(out, kZip64Version, 2);
  append_little(out, zip::kUtf8Flag, 2);
  append_little(out, method, 2);
  append_little(out, kFirstDay, 4);
  append_little(out, crc, 4);
  append_little(out, zip::kIn64, 4);
  append_little(out, zip::kIn64, 4);
}

/// The three records after the central directory.
std::string zip_end(std::uint64_t begin, std::uint64_t end, std::uint64_t count) {
  std::string out;
  append_little(out, zip::kEnd64Signature, 4);
  append_little(out, zip::kEnd64Bytes - 12, 8);  // size of the rest of this record
  append_little(out, kZip64Version, 2);
  append_little(out, kZip64Version, 2);
  append_little(out, 0, 8);  // disks
  append_little(out, count, 8);
  append_little(out, count, 8);
  append_little(out, end - begin, 8);
  append_little(out, begin, 8);
  append_little(out, zip::kLocator64Signature, 4);
  append_little(out, 0, 4);
  append_little(out, end, 8);
  append_little(out, 1, 4);
  append_little(out, zip::kEndSignature, 4);
  append_little(out, 0, 4);
  append_little(out, 0xFFFF, 2);
  append_little(out, 0xFFFF, 2);
  append_little(out, zip::kIn64, 4);
  append_little(out, zip::kIn64, 4);
  append_little(out, 0, 2);  // no comment
  return out;
}

}  // namespace

void ZipWriter::store(const std::string& name, std::span<const std::byte> bytes,
                      std::size_t alignment) {
  add({name, zip::kStored, crc_of(bytes), bytes.size(), bytes.size()}, bytes, alignment);
}

void ZipWriter::store(const std::string& name, std::string_view text) {
  store(name, std::as_bytes(std::span(text)));
}

void ZipWriter::deflate(const std::string& name, std::span<const std::byte> bytes) {
  const auto packed = deflate_raw(bytes);
  add({name, zip::kDeflated, crc_of(bytes), packed.size(), bytes.size()}, packed, 1);
}

void ZipWriter::add(Written entry, std::span<const std::byte> packed, std::size_t alignment) {
  check(is_plain_zip_name(entry.name) && entry.name.size() <= kLongestEntryName, ErrorKind::Input,
        "[io.zip] an entry cannot be named '{}'; expected a relative path in UTF-8 without '..', "
        "at most {} bytes long.",
        printable(entry.name), kLongestEntryName);
  entry.begin = static_cast<std::uint64_t>(file_.size());
  std::size_t padding = 0;
  if (alignment > 1) {
    const auto unpadded = entry.begin + zip::kLocalBytes + entry.name.size() + kLocalExtra + 4;
    padding = 4 + (alignment - unpadded % alignment) % alignment;
  }
  std::string header;
  append_little(header, zip::kLocalSignature, 4);
  append_common(header, entry.method, entry.crc);
  append_little(header, entry.name.size(), 2);
  append_little(header, kLocalExtra + padding, 2);
  header += entry.name;
  append_little(header, zip::kExtra64, 2);
  append_little(header, kLocalExtra - 4, 2);
  append_little(header, entry.size, 8);
  append_little(header, entry.packed, 8);
  if (padding > 0) {
    append_little(header, zip::kExtraPadding, 2);
    append_little(header, padding - 4, 2);
    header.append(padding - 4, '\0');
  }
  file_.write(header);
  file_.write(packed);
  entries_.push_back(std::move(entry));
}

void ZipWriter::commit() {
  const auto begin = static_cast<std::uint64_t>(file_.size());
  std::string list;
  for (const auto& entry : entries_) {
    append_little(list, zip::kCentralSignature, 4);
    append_little(list, kZip64Version, 2);
    append_common(list, entry.method, entry.crc);
    append_little(list, entry.name.size(), 2);
    append_little(list, kCentralExtra, 2);
    append_little(list, 0, 2);  // comment
    append_little(list, 0, 8);  // disk, attributes
    append_little(list, zip::kIn64, 4);
    list += entry.name;
    append_little(list, zip::kExtra64, 2);
    append_little(list, kCentralExtra - 4, 2);
    append_little(list, entry.size, 8);
    append_little(list, entry.packed, 8);
    append_little(list, entry.begin, 8);
  }
  file_.write(list);
  file_.write(zip_end(begin, begin + list.size(), entries_.size()));
  file_.commit();
}

}  // namespace ubique::io
