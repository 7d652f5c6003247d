// SPDX-License-Identifier: Apache-2.0
// What goes wrong inside a template, before its place is known: the renderer adds file and line.
#pragma once

#include <string>
#include <utility>

#include "ubique/base/error.h"

namespace ubique::io::jinja {

class Fault : public Error {
 public:
  explicit Fault(std::string text) : Error(ErrorKind::Input, "[io.jinja] " + text), what_(text) {}
  /// The message without the tag.
  const std::string& text() const { return what_; }

 private:
  std::string what_;
};

template <typename... Args>
[[noreturn]] void stop(fmt::format_string<Args...> format, Args&&... args) {
  throw Fault(fmt::format(format, std::forward<Args>(args)...));
}

/// stop() unless the condition holds.
template <typename... Args>
void need(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) stop(format, std::forward<Args>(args)...);
}

}  // namespace ubique::io::jinja
