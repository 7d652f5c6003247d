// SPDX-License-Identifier: Apache-2.0
// Code in a child process, for tests that kill it or look at how it ends.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace ubique::test {

/// Runs the code in a child process, which ends with the code's result (99 for an exception).
inline pid_t start_child(const std::function<int()>& code) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    int result = 99;
    try {
      result = code();
    } catch (...) {
    }
    ::_exit(result);
  }
  return child;
}

inline int wait_for(pid_t child) {
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

/// In a child process of root: gives root's rights away, for permissions mean nothing to root.
/// False if that cannot be done.
inline bool become_ordinary_user() {
  constexpr uid_t kNobody = 65534;
  return ::geteuid() != 0 || ::setuid(kNobody) == 0;
}

}  // namespace ubique::test
