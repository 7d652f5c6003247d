// SPDX-License-Identifier: Apache-2.0
// Atomic file writes (temporary file in the same folder, fsync, rename, fsync of the folder),
// whole-file reads, read-only memory maps, and the cache folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace ubique {

/// Writes a file in pieces; it appears under its name only on commit(). Without commit() (an
/// exception, a kill) the old file stays as it was. Input error if the disk is full or read-only.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  void commit();
  std::int64_t size() const { return size_; }

 private:
  void discard() noexcept;  // removes the temporary file

  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

/// fsync of a folder: renames in it then survive a power cut.
void sync_folder(const std::filesystem::path& path);

/// Makes a folder and its parents. Input error if that fails, a file has that name, or nothing can
/// be written into the folder.
void make_folder(const std::filesystem::path& path);

/// Input error with the reason (no permission, links in a circle) for a file that cannot be opened
/// or a folder that cannot be listed. What is not there is no error: callers say what they
/// expected.
void check_readable(const std::filesystem::path& path);

void write_file(const std::filesystem::path& path, std::string_view content);  ///< atomic
/// Input error that names the file, also for a folder, a pipe or a device, which may never end;
/// `limit` guards against reading something huge by mistake.
std::string read_file(const std::filesystem::path& path, std::int64_t limit = 256LL << 20U);
/// The first `most` bytes, or all of a shorter file; Input errors as of read_file().
std::string read_start(const std::filesystem::path& path, std::size_t most);

/// A whole file mapped read-only. Empty files are fine.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::filesystem::path& path() const { return path_; }
  /// The open file, for pread(); -1 for an empty one. Valid as long as the map.
  int descriptor() const { return descriptor_; }

 private:
  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  int descriptor_ = -1;
};

/// $UBIQUE_CACHE_DIR, else $XDG_CACHE_HOME/ubique, else ~/.cache/ubique (macOS:
/// ~/Library/Caches/ubique).
std::filesystem::path cache_folder();

}  // namespace ubique
