// SPDX-License-Identifier: Apache-2.0
// The content of a scan's file, from front to back, whether it is gzipped or not (its first bytes
// decide, not its name). Knows nothing of headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "ubique/base/file.h"
#include "ubique/io/gzip.h"

namespace ubique::io {

class NiftiSource {
 public:
  explicit NiftiSource(const std::filesystem::path& path);
  NiftiSource(std::span<const std::byte> file, std::string name);

  const std::string& name() const { return name_; }
  std::uint64_t position() const { return position_; }
  /// No more than so many bytes can still come.
  std::uint64_t most_left() const;
  /// Fills `out`, or as much of it as there still is; returns how much.
  std::size_t read(std::span<std::byte> out);
  void skip(std::uint64_t count);
  /// After the last read: a gzip stream's checksum is at its end.
  void check_end();

 private:
  std::optional<MappedFile> map_;
  std::span<const std::byte> file_;
  std::string name_;
  std::optional<GzipReader> gzip_;
  std::uint64_t position_ = 0;  // in the content
};

}  // namespace ubique::io
