// SPDX-License-Identifier: Apache-2.0
// Layout: the data, then a mark, the sizes of file and pieces, and the bytes done of each piece.
#include "ubique/io/hub/part_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <numeric>
#include <system_error>

#include "ubique/base/error.h"
#include "ubique/base/files/fault.h"
#include "ubique/base/files/file.h"

namespace ubique::io {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPartMark = 0x3154524150425521;  // "!UBPART1", little-endian
constexpr std::int64_t kWord = sizeof(std::int64_t), kHeaderWords = 3;

[[noreturn]] void fail_part(const fs::path& path, int error) {
  const bool is_full = error == ENOSPC || error == EDQUOT;
  fail(ErrorKind::Input, "[io.hub] cannot write {}; {}.{}", path.string(),
       std::generic_category().message(error),
       is_full ? " What came is kept: free some space, and the same command goes on." : "");
}

std::int64_t count_pieces(std::int64_t bytes, std::int64_t piece) {
  return bytes == 0 ? 1 : (bytes - 1) / piece + 1;  // an empty file has one empty piece
}

}  // namespace

PartFile::PartFile(fs::path path, std::int64_t bytes, std::int64_t piece)
    : path_(std::move(path)), bytes_(bytes), piece_(std::max<std::int64_t>(piece, 1)) {
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_part(path_, errno);
  try {
    if (!read_states()) restart(piece);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

PartFile::PartFile(int descriptor, std::int64_t bytes)
    : bytes_(bytes), piece_(std::max<std::int64_t>(bytes, 1)), descriptor_(descriptor) {}

std::int64_t PartFile::left_in(const fs::path& path, std::int64_t bytes) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  PartFile part(descriptor, bytes);
  return part.read_states() ? part.done() : 0;
}

PartFile::~PartFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

/// False if the file is new or its states are not those of this file.
bool PartFile::read_states() {
  struct stat info {};
  std::array<std::int64_t, kHeaderWords> header{};
  if (::fstat(descriptor_, &info) != 0 ||
      ::pread(descriptor_, header.data(), sizeof header, bytes_) != sizeof header ||
      header[0] != kPartMark || header[1] != bytes_ || header[2] < 1) {
    return false;
  }
  piece_ = header[2];
  const auto count = count_pieces(bytes_, piece_);
  if (info.st_size != bytes_ + kWord * (kHeaderWords + count)) return false;
  done_.resize(static_cast<std::size_t>(count));
  const auto size = static_cast<ssize_t>(count * kWord);
  if (::pread(descriptor_, done_.data(), static_cast<std::size_t>(size),
              bytes_ + kWord * kHeaderWords) != size) {
    return false;
  }
  for (std::size_t i = 0; i < done_.size(); ++i) {
    if (done_[i] < 0 || done_[i] > size_of(i)) return false;
  }
  return true;
}

void PartFile::restart(std::int64_t piece) {
  piece_ = std::max<std::int64_t>(piece, 1);
  const auto count = count_pieces(bytes_, piece_);
  done_.assign(static_cast<std::size_t>(count), 0);
  if (::ftruncate(descriptor_, 0) != 0 ||
      ::ftruncate(descriptor_, bytes_ + kWord * (kHeaderWords + count)) != 0) {
    fail_part(path_, errno);
  }
  write_header();
}

void PartFile::write_header() {
  const std::array<std::int64_t, kHeaderWords> header{kPartMark, bytes_, piece_};
  write_at(bytes_, std::as_bytes(std::span(header)));
}

void PartFile::write_at(std::int64_t place, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const auto count = ::pwrite(descriptor_, bytes.data(), bytes.size(), place);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_part(path_, errno);
    place += count;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

std::int64_t PartFile::begin_of(std::size_t piece) const {
  return static_cast<std::int64_t>(piece) * piece_;
}

std::int64_t PartFile::size_of(std::size_t piece) const {
  return std::min(piece_, bytes_ - begin_of(piece));
}

std::int64_t PartFile::done() const {
  return std::accumulate(done_.begin(), done_.end(), std::int64_t{0});
}

void PartFile::append(std::size_t piece, std::span<const std::byte> bytes) {
  auto& done = done_[piece];
  fault_point("hub.append");
  write_at(begin_of(piece) + done, bytes);
  done += static_cast<std::int64_t>(bytes.size());
  // After the data: what a state claims is there.
  const auto place = bytes_ + kWord * (kHeaderWords + static_cast<std::int64_t>(piece));
  write_at(place, std::as_bytes(std::span(&done, 1)));
}

std::string PartFile::digest(const HubFile& file) const {
  auto sha = begin_digest(file);
  std::vector<std::byte> buffer(std::size_t{1} << 20U);
  for (std::int64_t place = 0; place < bytes_;) {
    const auto wanted =
        std::min<std::int64_t>(bytes_ - place, static_cast<std::int64_t>(buffer.size()));
    const auto count = ::pread(descriptor_, buffer.data(), static_cast<std::size_t>(wanted), place);
    if (count < 0 && errno == EINTR) continue;
    check(count > 0, ErrorKind::Input, "[io.hub] cannot read {}; {}.", path_.string(),
          count < 0 ? std::generic_category().message(errno) : "it became shorter");
    sha.add(std::span(buffer).first(static_cast<std::size_t>(count)));
    place += count;
  }
  return sha.finish();
}

void PartFile::finish(const fs::path& name) {
  if (::ftruncate(descriptor_, bytes_) != 0 || ::fsync(descriptor_) != 0) fail_part(path_, errno);
  fault_point("hub.rename");
  std::error_code error;
  fs::rename(path_, name, error);
  if (error) fail_part(name, error.value());
  sync_folder(name.parent_path());
}

void PartFile::remove() {
  std::error_code ignored;
  fs::remove(path_, ignored);
}

}  // namespace ubique::io
