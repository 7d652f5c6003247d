// SPDX-License-Identifier: Apache-2.0
#include "ubique/cli/interrupt.h"

#include <csignal>

namespace ubique::cli {
namespace {

volatile std::sig_atomic_t interrupts = 0;

void note_interrupt(int signal) {
  interrupts = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void watch_interrupts() {
  std::signal(SIGINT, note_interrupt);
  std::signal(SIGTERM, note_interrupt);
}

bool interrupted() { return interrupts != 0; }

}  // namespace ubique::cli
