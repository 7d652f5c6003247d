// SPDX-License-Identifier: Apache-2.0
// Renames and exchanges of folders, with fault points for the tests, and locks on temporary ones.
#include "ubique/engine/checkpoint/atomic_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <string>
#include <system_error>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/files/fault.h"
#include "ubique/base/files/file.h"

namespace ubique::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemporaryPrefix = ".tmp-";

fs::path temporary_name(const fs::path& parent) {
  std::random_device device;
  return parent / fmt::format("{}{:08x}{:08x}", kTemporaryPrefix, device(), device());
}

[[noreturn]] void fail_rename(const fs::path& from, const fs::path& to, int error) {
  fail(ErrorKind::Input, "[engine.checkpoint] cannot rename {} to {}; {}.", from.string(),
       to.filename().string(), std::generic_category().message(error));
}

void rename_folder(const fs::path& from, const fs::path& to) {
  fault_point("checkpoint.rename");
  if (::rename(from.c_str(), to.c_str()) != 0) fail_rename(from, to, errno);
}

/// Swaps the two names atomically; false if the system or the file system does not support it.
bool exchange_folders(const fs::path& one, const fs::path& other) {
  fault_point("checkpoint.exchange");
#if defined(RENAME_EXCHANGE)
  if (::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0)
    return true;
#elif defined(RENAME_SWAP)
  if (::renamex_np(one.c_str(), other.c_str(), RENAME_SWAP) == 0) return true;
#else
  errno = ENOSYS;
#endif
  const int error = errno;
  if (error != ENOSYS && error != EINVAL && error != ENOTSUP && error != EOPNOTSUPP) {
    fail_rename(one, other, error);
  }
  return false;
}

/// Locks a folder until the process ends; -1 if another process holds the lock or locking fails.
int lock_folder(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0 && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  if (descriptor >= 0) ::close(descriptor);
  return -1;
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

void remove_folder(const fs::path& path) noexcept {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

void remove_garbage(const fs::path& parent) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    if (!entry.path().filename().string().starts_with(kTemporaryPrefix)) continue;
    const int descriptor = lock_folder(entry.path());
    if (descriptor < 0) continue;  // its writer still runs
    fault_point("checkpoint.clean");
    remove_folder(entry.path());
    ::close(descriptor);
  }
}

}  // namespace

fs::path previous_of(const fs::path& folder) {
  return folder.parent_path() / fmt::format(".{}.previous", folder.filename().string());
}

void discard_folder(const fs::path& folder) {
  const auto garbage = temporary_name(folder.parent_path());
  rename_folder(folder, garbage);
  remove_folder(garbage);
}

TemporaryFolder::TemporaryFolder(const fs::path& parent) {
  remove_garbage(parent.empty() ? fs::path(".") : parent);
  do {  // again if another process removed the new folder before it was locked
    path_ = temporary_name(parent);
    if (::mkdir(path_.c_str(), 0777) != 0) {
      fail(ErrorKind::Input, "[engine.checkpoint] cannot make a folder in {}; {}.", parent.string(),
           std::generic_category().message(errno));
    }
  } while (!lock());
}

TemporaryFolder::~TemporaryFolder() {
  if (!path_.empty()) remove_folder(path_);
  if (lock_ >= 0) ::close(lock_);
}

/// False if the folder is gone. Works without file locks too: only locked folders are removed.
bool TemporaryFolder::lock() {
  lock_ = lock_folder(path_);
  struct stat info {};
  if (::stat(path_.c_str(), &info) == 0) return true;
  if (lock_ >= 0) ::close(std::exchange(lock_, -1));
  return false;
}

/// Afterwards path_ is the new location of the old folder.
void TemporaryFolder::replace(const fs::path& folder, Swap swap) {
  if (swap == Swap::Exchange && exchange_folders(path_, folder)) return;
  const auto previous = previous_of(folder);
  const auto retired = temporary_name(folder.parent_path());
  if (is_there(previous)) rename_folder(previous, retired);
  rename_folder(folder, previous);
  sync_folder(folder.parent_path());
  rename_folder(path_, folder);
  path_ = previous;
  remove_folder(retired);
}

/// Afterwards path_ is the folder that `previous` was before, or empty.
void TemporaryFolder::keep_as(const fs::path& previous) {
  if (!is_there(previous) || !exchange_folders(path_, previous)) {
    remove_folder(previous);
    rename_folder(path_, previous);
    path_.clear();
  }
  sync_folder(previous.parent_path());
}

void TemporaryFolder::publish(const fs::path& folder, bool keep_previous, Swap swap) {
  const auto previous = previous_of(folder);
  if (is_there(folder)) {
    replace(folder, swap);
  } else {
    rename_folder(path_, folder);
    path_.clear();
  }
  sync_folder(folder.parent_path());
  if (keep_previous && path_ == previous) {
    path_.clear();
  } else if (keep_previous && !path_.empty()) {
    keep_as(previous);
  } else if (!keep_previous) {
    remove_folder(previous);
  }
  fault_point("checkpoint.clean");
}

}  // namespace ubique::engine
