// SPDX-License-Identifier: Apache-2.0
// Finds, parses and checks the central directory of a zip archive.
#include "ubique/io/archive/zip_directory.h"

#include <algorithm>
#include <set>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/utf8.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/archive/file_type.h"
#include "ubique/io/archive/zip_format.h"

namespace ubique::io {
namespace {

// Deflate spends at least two bits on a run of at most 258 bytes: 1032 bytes from one.
constexpr std::uint64_t kMostInflation = 1032;

struct DirectoryRange {
  std::uint64_t begin = 0, size = 0, count = 0;
};

/// An entry while it is being checked.
struct CheckedEntry {
  ZipEntry entry;
  std::uint16_t flags = 0;
  std::uint64_t header = 0;  // offset of its local header
};

class DirectoryReader {
 public:
  DirectoryReader(std::span<const std::byte> file, const std::string& name)
      : file_(file), name_(name) {}

  std::vector<ZipEntry> read() const;

 private:
  /// The number of `width` bytes at `at`; Input error if the file ends before it does.
  std::uint64_t number(std::uint64_t at, std::size_t width) const {
    return load_little(bytes(at, width));
  }
  std::span<const std::byte> bytes(std::uint64_t at, std::uint64_t size) const;
  [[noreturn]] void damaged(std::string_view what) const;
  void require(bool condition, std::string_view what) const {
    if (!condition) damaged(what);
  }

  std::uint64_t find_end() const;
  DirectoryRange find_directory() const;
  DirectoryRange find_directory64(std::uint64_t end) const;
  CheckedEntry read_entry(std::uint64_t at) const;
  void read_sizes64(CheckedEntry& result, std::span<const std::byte> extra) const;
  void check_entry(const CheckedEntry& checked, std::uint16_t method) const;
  void find_data(CheckedEntry& checked) const;
  void check_overlap(std::vector<CheckedEntry> entries, std::uint64_t end) const;

  std::span<const std::byte> file_;
  const std::string& name_;
};

void DirectoryReader::damaged(std::string_view what) const {
  fail(ErrorKind::Input, "[io.zip] {} is a damaged zip archive; {}. Was the download cut short?",
       name_, what);
}

std::span<const std::byte> DirectoryReader::bytes(std::uint64_t at, std::uint64_t size) const {
  require(at <= file_.size() && size <= file_.size() - at, "a record reaches past its end");
  return file_.subspan(at, size);
}

/// Offset of the end record, searched from the end of the file: only a comment may follow it.
std::uint64_t DirectoryReader::find_end() const {
  constexpr std::uint64_t kLongestComment = 0xFFFF;
  check(file_.size() >= zip::kEndBytes && number(0, 2) == 0x4b50, ErrorKind::Input,
        "[io.zip] {} is not a zip archive; {}", name_, looks_like_clause(file_));
  const auto last = file_.size() - zip::kEndBytes;
  for (std::uint64_t comment = 0; comment <= std::min<std::uint64_t>(last, kLongestComment);
       ++comment) {
    const auto at = last - comment;
    if (number(at, 4) == zip::kEndSignature && number(at + 20, 2) == comment) return at;
  }
  damaged("its list of entries is missing");
}

DirectoryRange DirectoryReader::find_directory64(std::uint64_t end) const {
  const auto locator = end - zip::kLocator64Bytes;
  const auto at = number(locator + 8, 8);
  require(number(at, 4) == zip::kEnd64Signature && at + zip::kEnd64Bytes <= locator,
          "its zip64 record is not where it should be");
  require(number(at + 16, 4) == 0 && number(at + 20, 4) == 0 &&
              number(at + 24, 8) == number(at + 32, 8),
          "it is one part of several");
  const DirectoryRange directory{number(at + 48, 8), number(at + 40, 8), number(at + 32, 8)};
  require(directory.begin <= at && directory.size == at - directory.begin,
          "its list of entries is not where it should be");
  return directory;
}

DirectoryRange DirectoryReader::find_directory() const {
  const auto end = find_end();
  if (end >= zip::kLocator64Bytes &&
      number(end - zip::kLocator64Bytes, 4) == zip::kLocator64Signature) {
    return find_directory64(end);
  }
  require(number(end + 4, 4) == 0 && number(end + 8, 2) == number(end + 10, 2),
          "it is one part of several");
  const DirectoryRange directory{number(end + 16, 4), number(end + 12, 4), number(end + 10, 2)};
  require(directory.begin <= end && directory.size == end - directory.begin,
          "its list of entries is not where it should be");
  return directory;
}

void DirectoryReader::read_sizes64(CheckedEntry& result, std::span<const std::byte> extra) const {
  auto& entry = result.entry;
  while (extra.size() >= 4) {
    const auto id = load_little(extra.first(2));
    const auto length = load_little(extra.subspan(2, 2));
    require(length <= extra.size() - 4, "an extra field reaches past its end");
    auto field = extra.subspan(4, length);
    extra = extra.subspan(4 + length);
    if (id != zip::kExtra64) continue;
    for (auto* value : {&entry.size, &entry.packed, &result.header}) {
      if (*value != zip::kIn64) continue;
      require(field.size() >= 8, "a zip64 field is too short");
      *value = load_little(field.first(8));
      field = field.subspan(8);
    }
    return;
  }
}

void DirectoryReader::check_entry(const CheckedEntry& checked, std::uint16_t method) const {
  const auto& entry = checked.entry;
  const auto shown = printable(entry.name);
  check(is_plain_zip_name(entry.name), ErrorKind::Input,
        "[io.zip] {}: an entry has a name that could leave its folder; got '{}', expected a "
        "relative path in UTF-8 without '..'.",
        name_, shown);
  check((checked.flags & zip::kEncryptedFlag) == 0, ErrorKind::Input,
        "[io.zip] {}: entry '{}' is encrypted; expected a plain archive.", name_, shown);
  check(method == zip::kStored || method == zip::kDeflated, ErrorKind::Input,
        "[io.zip] {}: entry '{}' is packed by an unknown method; got {}, expected 0 (stored) or 8 "
        "(deflated).",
        name_, shown, method);
  const bool possible =
      entry.deflated ? entry.size / kMostInflation <= entry.packed : entry.size == entry.packed;
  check(possible, ErrorKind::Input,
        "[io.zip] {}: entry '{}' has an impossible size; got {} bytes from {} {} ones.", name_,
        shown, entry.size, entry.packed, entry.deflated ? "deflated" : "stored");
}

CheckedEntry DirectoryReader::read_entry(std::uint64_t at) const {
  require(number(at, 4) == zip::kCentralSignature, "its list of entries is unreadable");
  CheckedEntry result;
  auto& entry = result.entry;
  result.flags = static_cast<std::uint16_t>(number(at + 8, 2));
  const auto method = static_cast<std::uint16_t>(number(at + 10, 2));
  entry.deflated = method == zip::kDeflated;
  entry.crc = static_cast<std::uint32_t>(number(at + 16, 4));
  entry.packed = number(at + 20, 4);
  entry.size = number(at + 24, 4);
  result.header = number(at + 42, 4);
  const auto name_size = number(at + 28, 2);
  const auto name = bytes(at + zip::kCentralBytes, name_size);
  entry.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  read_sizes64(result, bytes(at + zip::kCentralBytes + name_size, number(at + 30, 2)));
  check_entry(result, method);
  find_data(result);
  return result;
}

/// The local header in front of the data says the same once more; two that differ would show
/// different files to different programs.
void DirectoryReader::find_data(CheckedEntry& checked) const {
  auto& entry = checked.entry;
  const auto at = checked.header;
  require(number(at, 4) == zip::kLocalSignature, "an entry is not where the list says");
  const auto name_size = number(at + 26, 2);
  const auto name = bytes(at + zip::kLocalBytes, name_size);
  const std::string_view text(reinterpret_cast<const char*>(name.data()), name.size());
  const auto method = entry.deflated ? zip::kDeflated : zip::kStored;
  const bool described = (number(at + 6, 2) & zip::kDescriptorFlag) != 0;
  require(text == entry.name && number(at + 8, 2) == method &&
              (described || number(at + 14, 4) == entry.crc),
          "an entry's own header and the list differ");
  entry.begin = at + zip::kLocalBytes + name_size + number(at + 28, 2);
  bytes(entry.begin, entry.packed);
}

void DirectoryReader::check_overlap(std::vector<CheckedEntry> entries, std::uint64_t end) const {
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.header > b.header; });
  for (const auto& checked : entries) {  // last one first
    require(checked.entry.begin + checked.entry.packed <= end, "two entries overlap");
    end = checked.header;
  }
}

std::vector<ZipEntry> DirectoryReader::read() const {
  const auto directory = find_directory();
  std::vector<CheckedEntry> checked;
  std::set<std::string_view> names;
  auto at = directory.begin;
  const auto end = directory.begin + directory.size;
  while (at < end) {
    checked.push_back(read_entry(at));
    at += zip::kCentralBytes + number(at + 28, 2) + number(at + 30, 2) + number(at + 32, 2);
  }
  require(at == end && checked.size() == directory.count,
          "its list of entries has the wrong length");
  check_overlap(checked, directory.begin);
  std::vector<ZipEntry> entries;
  for (const auto& one : checked) {
    check(names.insert(one.entry.name).second, ErrorKind::Input,
          "[io.zip] {}: two entries have the name '{}'; expected each name once.", name_,
          printable(one.entry.name));
    if (!one.entry.name.ends_with('/')) entries.push_back(one.entry);
  }
  return entries;
}

}  // namespace

bool is_plain_zip_name(std::string_view name) {
  const auto odd = [](char c) { return static_cast<unsigned char>(c) < 0x20U || c == '\\'; };
  const bool drive = name.size() > 1 && name[1] == ':';
  if (name.empty() || name.front() == '/' || drive || !is_utf8(name)) return false;
  if (std::any_of(name.begin(), name.end(), odd)) return false;
  while (!name.empty()) {
    const auto part = name.substr(0, name.find('/'));
    if (part == "..") return false;
    name.remove_prefix(std::min(part.size() + 1, name.size()));
  }
  return true;
}

std::vector<ZipEntry> parse_zip_directory(std::span<const std::byte> file,
                                          const std::string& name) {
  return DirectoryReader(file, name).read();
}

}  // namespace ubique::io
