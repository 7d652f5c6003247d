// SPDX-License-Identifier: Apache-2.0
// Zip archives built by hand, valid or not, so that the tests of the reader do not depend on the
// writer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ubique::test {

inline std::string little(std::uint64_t value, unsigned width) {
  std::string text;
  for (unsigned i = 0; i < width; ++i) text += static_cast<char>(value >> (8 * i) & 0xFFU);
  return text;
}

inline std::uint32_t crc_of_text(std::string_view text) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1U ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

/// A deflate stream of one stored block.
inline std::string deflate_block(std::string_view text) {
  return "\x01" + little(text.size(), 2) + little(~text.size(), 2) + std::string(text);
}

struct SampleEntry {
  std::string name;
  std::string data;                        // unpacked
  std::optional<std::string> packed = {};  // deflated, as stored in the file
  unsigned flags = 0;                      // bit 3: sizes follow the data
  unsigned method = packed ? 8 : 0;
  bool zip64 = false;                      // sizes and offset in a field of 8 bytes
  std::optional<std::uint64_t> size = {};  // false value for the central directory
  std::optional<std::uint32_t> crc = {};
  std::optional<std::uint64_t> offset = {};
  std::optional<std::string> local_name = {};
};

inline std::string common_fields(const SampleEntry& entry, bool local) {
  const auto& packed = entry.packed ? *entry.packed : entry.data;
  const bool later = local && (entry.flags & 8U) != 0;
  const auto crc = entry.crc.value_or(crc_of_text(entry.data));
  const auto sizes = entry.zip64 ? little(0xFFFFFFFF, 4) + little(0xFFFFFFFF, 4)
                     : later     ? little(0, 8)
                                 : little(entry.size ? *entry.size : packed.size(), 4) +
                                   little(entry.size.value_or(entry.data.size()), 4);
  return little(20, 2) + little(entry.flags, 2) + little(entry.method, 2) + little(0, 4) +
         little(later ? 0 : crc, 4) + sizes;
}

inline std::string local_record(const SampleEntry& entry) {
  const auto& packed = entry.packed ? *entry.packed : entry.data;
  const auto name = entry.local_name.value_or(entry.name);
  const auto extra = entry.zip64 ? little(1, 2) + little(16, 2) + little(entry.data.size(), 8) +
                                       little(packed.size(), 8)
                                 : std::string();
  auto record = "PK\x03\x04" + common_fields(entry, true) + little(name.size(), 2) +
                little(extra.size(), 2) + name + extra + packed;
  if ((entry.flags & 8U) != 0) {
    record += "PK\x07\x08" + little(crc_of_text(entry.data), 4) + little(packed.size(), 4) +
              little(entry.data.size(), 4);
  }
  return record;
}

inline std::string central_record(const SampleEntry& entry, std::uint64_t offset) {
  const auto& packed = entry.packed ? *entry.packed : entry.data;
  const auto extra = entry.zip64 ? little(1, 2) + little(24, 2) + little(entry.data.size(), 8) +
                                       little(packed.size(), 8) + little(offset, 8)
                                 : std::string();
  return "PK\x01\x02" + little(20, 2) + common_fields(entry, false) + little(entry.name.size(), 2) +
         little(extra.size(), 2) + little(0, 2) + little(0, 8) +
         little(entry.zip64 ? 0xFFFFFFFF : offset, 4) + entry.name + extra;
}

inline std::string end_record(std::uint64_t count, std::uint64_t size, std::uint64_t begin,
                              std::string_view comment = {}) {
  return "PK\x05\x06" + little(0, 4) + little(count, 2) + little(count, 2) + little(size, 4) +
         little(begin, 4) + little(comment.size(), 2) + std::string(comment);
}

inline std::string end64_records(std::uint64_t count, std::uint64_t size, std::uint64_t begin) {
  return "PK\x06\x06" + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 8) +
         little(count, 8) + little(count, 8) + little(size, 8) + little(begin, 8) + "PK\x06\x07" +
         little(0, 4) + little(begin + size, 8) + little(1, 4) +
         end_record(0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF);
}

inline std::string zip_of(const std::vector<SampleEntry>& entries, bool zip64 = false) {
  std::string file, list;
  for (const auto& entry : entries) {
    list += central_record(entry, entry.offset.value_or(file.size()));
    file += local_record(entry);
  }
  const auto begin = file.size();
  file += list;
  return file + (zip64 ? end64_records(entries.size(), list.size(), begin)
                       : end_record(entries.size(), list.size(), begin));
}

}  // namespace ubique::test
