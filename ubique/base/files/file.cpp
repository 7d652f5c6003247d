// SPDX-License-Identifier: Apache-2.0
// POSIX calls behind file.h, with fault points for the crash tests.
#include "ubique/base/files/file.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <random>
#include <system_error>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/files/fault.h"

namespace ubique {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPerCall = 1U << 30U;  // macOS refuses 2 GiB and more per call

[[noreturn]] void fail_file(const char* what, const fs::path& path, int error) {
  const bool is_full = error == ENOSPC || error == EDQUOT;
  fail(ErrorKind::Input, "[base.file] cannot {} {}; {}.{}", what, path.string(),
       std::generic_category().message(error),
       is_full ? " Free some space, or choose another path." : "");
}

/// A file descriptor, closed by the destructor.
class OpenFile {
 public:
  OpenFile(const fs::path& path, int flags) : number_(open_retrying(path, flags)) {
    if (number_ < 0) fail_file("open", path, errno);
  }
  ~OpenFile() {
    if (number_ >= 0) ::close(number_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  static int open_retrying(const fs::path& path, int flags) {
    int number = -1;
    do {
      number = ::open(path.c_str(), flags | O_CLOEXEC);
    } while (number < 0 && errno == EINTR);
    return number;
  }
  int number_;
};

// Opening a pipe must not wait for its writer, nor reading /proc/kmsg for the next message.
constexpr int kReadFlags = O_RDONLY | O_NONBLOCK;

/// The size of an open file. Input error for anything else: a pipe or a device may never end.
std::int64_t regular_size(const OpenFile& file, const fs::path& path, const char* what) {
  struct stat info {};
  if (::fstat(file.number(), &info) != 0) fail_file(what, path, errno);
  check(S_ISREG(info.st_mode), ErrorKind::Input,
        "[base.file] cannot {} {}; it is a folder, a pipe or a device, expected a file.", what,
        path.string());
  return info.st_size;
}

/// Fills `out` as far as one call does; 0 at the end.
std::size_t read_some(const OpenFile& file, const fs::path& path, std::span<char> out) {
  while (true) {
    const auto count = ::read(file.number(), out.data(), std::min(out.size(), kMostPerCall));
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) fail_file("read", path, errno);
  }
}

fs::path temporary_beside(const fs::path& path) {
  std::random_device device;
  return path.parent_path() /
         fmt::format(".ubique-{}-{:08x}{:08x}.tmp", ::getpid(), device(), device());
}

bool sync_descriptor(int descriptor) {
#ifdef F_FULLFSYNC
  if (::fcntl(descriptor, F_FULLFSYNC) == 0)
    return true;  // macOS: fsync stops at the drive's cache
#endif
  int result = 0;
  do {
    result = ::fsync(descriptor);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

}  // namespace

void sync_folder(const fs::path& path) {
  fault_point("file.sync_folder");
  const auto folder = path.empty() ? fs::path(".") : path;
  const OpenFile file(folder, O_RDONLY | O_DIRECTORY);
  // Some file systems cannot sync a folder and return EINVAL; the rename alone has to do there.
  if (!sync_descriptor(file.number()) && errno != EINVAL && errno != ENOTSUP) {
    fail_file("sync folder", folder, errno);
  }
}

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  std::error_code ignored;
  // Writing through a link replaces what it points to, as an ordinary write would.
  if (fs::is_symlink(path_, ignored)) {
    if (auto real = fs::canonical(path_, ignored); !ignored) path_ = std::move(real);
  }
  struct stat old {};
  const bool replaces = ::stat(path_.c_str(), &old) == 0;
  check(!replaces || S_ISREG(old.st_mode), ErrorKind::Input,
        "[base.file] cannot write {}; it is a folder or a device, expected a file's name.",
        path_.string());
  do {
    temporary_ = temporary_beside(path_);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && (errno == EEXIST || errno == EINTR));
  if (descriptor_ < 0) fail_file("write", path_, errno);
  if (replaces && ::fchmod(descriptor_, old.st_mode & 07777U) != 0) {
    const int error = errno;
    discard();
    fail_file("keep the permissions of", path_, error);
  }
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  descriptor_ = -1;
  temporary_.clear();
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  check(descriptor_ >= 0, ErrorKind::Internal, "[base.file] write to {} after commit or failure.",
        path_.string());
  fault_point("file.write");
  while (!bytes.empty()) {
    const auto count =
        ::write(descriptor_, bytes.data(), std::min<std::size_t>(bytes.size(), kMostPerCall));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int error = errno;
      discard();
      fail_file("write", path_, error);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    size_ += count;
  }
}

void AtomicFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void AtomicFile::commit() {
  check(descriptor_ >= 0, ErrorKind::Internal, "[base.file] commit of {} after commit or failure.",
        path_.string());
  fault_point("file.sync");
  const bool synced = sync_descriptor(descriptor_);
  int error = errno;
  const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
  if (synced && !closed) error = errno;
  bool renamed = false;
  if (synced && closed) {
    fault_point("file.rename");
    renamed = ::rename(temporary_.c_str(), path_.c_str()) == 0;
    if (!renamed) error = errno;
  }
  if (!renamed) {
    discard();
    fail_file("write", path_, error);
  }
  temporary_.clear();
  sync_folder(path_.parent_path());
}

void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  std::error_code ignored;
  const bool there = std::filesystem::is_directory(path, ignored);
  check(there, ErrorKind::Input,
        "[base.file] cannot make the folder {}; got '{}', expected a place "
        "to write to.",
        path.string(), error ? error.message() : "a file of that name");
  if (::access(path.c_str(), W_OK | X_OK) != 0) fail_file("write into", path, errno);
}

void check_readable(const std::filesystem::path& path) {
  std::error_code ignored;
  const int wanted = fs::is_directory(path, ignored) ? R_OK | X_OK : R_OK;
  if (::access(path.c_str(), wanted) == 0 || errno == ENOENT || errno == ENOTDIR) return;
  fail_file("open", path, errno);
}

void write_file(const fs::path& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

std::string read_file(const fs::path& path, std::int64_t limit) {
  const OpenFile file(path, kReadFlags);
  const auto size = regular_size(file, path, "read");
  const auto refuse_long = [&](std::int64_t count) {
    check(count <= limit, ErrorKind::Input,
          "[base.file] {} is too long; got more than the {} bytes expected at most.", path.string(),
          limit);
  };
  refuse_long(size);
  std::string content;
  content.reserve(static_cast<std::size_t>(size));
  std::string piece(1U << 16U, '\0');
  while (true) {  // to the end, not to st_size: files of /proc say 0
    const auto count = read_some(file, path, piece);
    if (count == 0) return content;
    content.append(piece, 0, count);
    refuse_long(static_cast<std::int64_t>(content.size()));
  }
}

std::string read_start(const fs::path& path, std::size_t most) {
  const OpenFile file(path, kReadFlags);
  regular_size(file, path, "read");
  std::string start(most, '\0');
  std::size_t done = 0;
  while (done < most) {
    const auto count = read_some(file, path, std::span(start).subspan(done));
    if (count == 0) break;
    done += count;
  }
  start.resize(done);
  return start;
}

MappedFile::MappedFile(const fs::path& path) : path_(path) {
  OpenFile file(path, kReadFlags);
  size_ = static_cast<std::size_t>(regular_size(file, path, "map"));
  if (size_ == 0) return;
  void* data = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (data == MAP_FAILED) fail_file("map", path, errno);
  data_ = static_cast<const std::byte*>(data);
  descriptor_ = file.release();
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

fs::path cache_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value != nullptr ? value : "");
  };
  if (auto own = variable("UBIQUE_CACHE_DIR"); !own.empty()) return own;
  // The XDG specification says that a relative path counts as not set.
  if (const auto shared = variable("XDG_CACHE_HOME"); shared.is_absolute())
    return shared / "ubique";
  auto home = variable("HOME");
  if (home.empty()) {
    const auto* user = ::getpwuid(::getuid());
    if (user != nullptr && user->pw_dir != nullptr) home = user->pw_dir;
  }
  if (home.empty()) return fs::temp_directory_path() / fmt::format("ubique-{}", ::getuid());
  const auto mac_caches = home / "Library" / "Caches";  // where macOS keeps them
  std::error_code ignored;
  return (fs::is_directory(mac_caches, ignored) ? mac_caches : home / ".cache") / "ubique";
}

}  // namespace ubique
