// SPDX-License-Identifier: Apache-2.0
// A thread that reads from a pipe on which at most one byte is written.
#include "ubique/cli/parent.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <utility>

#include "ubique/base/text/text.h"

namespace ubique::cli {
namespace {

constexpr std::chrono::seconds kGrace{30};

/// A byte asks to stop, without a limit; the end of the pipe ends the process.
void watch_pipe(int descriptor) {
  bool asked = false;
  char byte = 0;
  while (true) {
    const auto got = ::read(descriptor, &byte, 1);
    if (got == 0 || (got < 0 && errno != EINTR)) break;
    if (got == 1 && !std::exchange(asked, true)) ::kill(::getpid(), SIGTERM);
  }
  if (!asked) {
    ::kill(::getpid(), SIGTERM);
    std::this_thread::sleep_for(kGrace);
  }
  ::kill(::getpid(), SIGKILL);
}

}  // namespace

void watch_parent() {
  const char* variable = std::getenv("UBIQUE_PARENT");
  const auto number = variable != nullptr ? parse_number(variable) : std::nullopt;
  ::unsetenv("UBIQUE_PARENT");  // programs that we start are ours
  if (!number || *number < 3 || *number > 1000) return;
  const int descriptor = static_cast<int>(*number);
  if (::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0) return;  // not open
  std::thread(watch_pipe, descriptor).detach();
}

}  // namespace ubique::cli
