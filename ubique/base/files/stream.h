// SPDX-License-Identifier: Apache-2.0
// Sequential reads and writes on files, pipes and standard streams. For files that must never be
// half-written see file.h.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace ubique {

/// Fills `bytes` and returns how many were read: fewer only at the end. Input error that names the
/// stream.
std::size_t read_fully(int descriptor, std::span<std::byte> bytes, const std::string& name);

/// Everything up to the end of the stream. Input error for more than `limit` bytes.
std::string read_to_end(int descriptor, const std::string& name, std::size_t limit);

/// Input error that names the stream, also for a pipe whose reader has gone: no SIGPIPE.
void write_fully(int descriptor, std::span<const std::byte> bytes, const std::string& name);

/// A file or named pipe, opened for reading.
class InputStream {
 public:
  explicit InputStream(const std::filesystem::path& path);  ///< Input error if there is none
  ~InputStream();
  InputStream(const InputStream&) = delete;
  InputStream& operator=(const InputStream&) = delete;

  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

}  // namespace ubique
