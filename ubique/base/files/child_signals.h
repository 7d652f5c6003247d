// SPDX-License-Identifier: Apache-2.0
// What a child process hears: a server blocks signals in its threads, and a child would inherit
// that.
#pragma once

#include <spawn.h>

#include <csignal>

namespace ubique {

/// The child starts with no signal blocked and with the usual answers to those that end programs.
/// `more`: further POSIX_SPAWN_... flags.
inline void set_usual_signals(posix_spawnattr_t& attributes, int more = 0) {
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) sigaddset(&usual, number);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(
      &attributes, static_cast<short>(more | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
}

}  // namespace ubique
