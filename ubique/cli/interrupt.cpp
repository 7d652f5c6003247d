// SPDX-License-Identifier: Apache-2.0
// Signal handlers for Ctrl-C and SIGTERM.
#include "ubique/cli/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

namespace ubique::cli {
namespace {

volatile std::sig_atomic_t interrupts = 0;
bool at_terminal = false;  // stderr is a terminal

void note_interrupt(int signal) {
  constexpr std::string_view kTold =
      "\nubique: stopping after what is being done now; once more ends it at once\n";
  interrupts = 1;
  std::signal(signal, SIG_DFL);
  if (!at_terminal) return;
  [[maybe_unused]] const auto told = ::write(STDERR_FILENO, kTold.data(), kTold.size());
}

}  // namespace

void watch_interrupts() {
  at_terminal = ::isatty(STDERR_FILENO) == 1;
  std::signal(SIGINT, note_interrupt);
  std::signal(SIGTERM, note_interrupt);
}

bool interrupted() { return interrupts != 0; }

}  // namespace ubique::cli
