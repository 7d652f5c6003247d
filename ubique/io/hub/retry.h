// SPDX-License-Identifier: Apache-2.0
// What an answer of a hub means: done, try again after a while, or an error in plain words.
#pragma once

#include <functional>
#include <string>

#include "ubique/io/hub/http.h"

namespace ubique::io {

/// Tries again what the network or the server may do better next time, with longer and longer
/// waits.
class Retry {
 public:
  Retry(std::function<bool()> stop_requested, int most, double first_wait = 0.5);

  /// Something came: counts from the start again.
  void progressed() { tried_ = 0; }
  /// Whether an attempt is due, after waiting; false: it was stopped. `what` is the file or page.
  /// Input error for an answer that will not change, or after too many tries.
  bool again(const HttpReply& reply, const std::string& what);

 private:
  bool wait(double seconds) const;

  std::function<bool()> stop_;
  int most_, tried_ = 0;
  double first_wait_;
};

/// May the same request succeed later: cut, busy, too many requests?
bool is_transient(const HttpReply& reply);

/// Input error for an answer that is no success, with what a person can do about it.
[[noreturn]] void fail_http(const HttpReply& reply, const std::string& what);

}  // namespace ubique::io
