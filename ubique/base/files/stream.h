// SPDX-License-Identifier: Apache-2.0
// Bytes that come and go in order, through files, pipes and standard streams. For files that must
// be whole or not there at all see file.h.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace ubique {

/// Fills `bytes` and gives how many came: fewer only at the end. Input error that names the stream.
std::size_t read_fully(int descriptor, std::span<std::byte> bytes, const std::string& name);

/// All that comes, up to its end. Input error if that is more than `limit` bytes.
std::string read_to_end(int descriptor, const std::string& name, std::size_t limit);

/// Input error that names the stream, also for a pipe that nobody reads any more: no SIGPIPE.
void write_fully(int descriptor, std::span<const std::byte> bytes, const std::string& name);

/// A file or named pipe that is read from its start.
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
