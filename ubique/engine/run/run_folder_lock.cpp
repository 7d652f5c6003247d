// SPDX-License-Identifier: Apache-2.0
// flock on FOLDER/.lock, with the owner's process id in the file for the error message.
#include "ubique/engine/run/run_folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/dist/place.h"

namespace ubique::engine {
namespace {

std::string owner_of(int descriptor) {
  char text[32] = {};
  const auto count = ::pread(descriptor, text, sizeof text - 1, 0);
  return count > 0 ? "process " + std::string(trim(text)) : "another process";
}

bool is_another_start() {
  return dist::process_environment("TORCHELASTIC_RESTART_COUNT").value_or("0") != "0";
}

constexpr int kPatience = 90;

}  // namespace

RunLock::RunLock(const std::filesystem::path& folder) {
  make_folder(folder);
  descriptor_ = ::open((folder / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  check(descriptor_ >= 0, ErrorKind::Input, "[engine.run] cannot write into {}; {}.",
        folder.string(), std::generic_category().message(errno));
  // What is left of the start before may need a while to notice that it is alone.
  const int patience = is_another_start() ? kPatience : 0;  // seconds
  for (int waited = 0; ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0; ++waited) {
    if (errno != EWOULDBLOCK || waited >= patience) {
      refuse(folder);
      return;
    }
    if (waited == 0) log::info("waiting for {}, which still trains", owner_of(descriptor_));
    ::sleep(1);
  }
  note_owner();
}

void RunLock::refuse(const std::filesystem::path& folder) {
  if (errno != EWOULDBLOCK) {  // some network file systems
    log::warn("[engine.run] {} cannot be locked ({}); do not train into it twice at a time.",
              folder.string(), std::generic_category().message(errno));
    return;
  }
  const auto owner = owner_of(descriptor_);
  ::close(descriptor_);
  fail(ErrorKind::Usage,
       "[engine.run] {} is in use; {} trains into it. Wait for it to end or pass another -o.",
       folder.string(), owner);
}

RunLock::~RunLock() { ::close(descriptor_); }

void RunLock::note_owner() const {
  const auto owner = fmt::format("{}\n", ::getpid());
  const bool noted =
      ::ftruncate(descriptor_, 0) == 0 && ::write(descriptor_, owner.data(), owner.size()) > 0;
  if (!noted) log::debug("[engine.run] could not note this process in the lock file");
}

}  // namespace ubique::engine
