// SPDX-License-Identifier: Apache-2.0
// The one error type of the project and the exit codes it maps to. Code below cli/ throws an Error
// and never prints or exits; cli/ turns it into a message on stderr and an exit code.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace ubique {

enum class ErrorKind {
  Usage,     ///< the command line or configuration is wrong
  Input,     ///< a file or its content is wrong
  Device,    ///< the device is missing, refuses, or the work does not fit on it
  Internal,  ///< a bug of ours
  Parity,    ///< numbers that must agree do not
};

enum class ExitCode : int {
  Ok = 0,
  Internal = 1,
  Usage = 2,
  Input = 3,
  Device = 4,
  Parity = 5,
  Interrupted = 130,
};

ExitCode exit_code(ErrorKind kind);
std::string_view to_string(ErrorKind kind);

/// Message form: "[room.verb] what; got X, expected Y. hint". Of a message that quotes a file at
/// length the middle is left out. What prints it escapes it (printable.h).
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message);
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// Throws an Error. The format begins with a tag in brackets: fail(ErrorKind::Input,
/// "[io.safetensors] ...").
template <typename... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

/// fail() unless the condition holds.
template <typename... Args>
void check(bool condition, ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) fail(kind, format, std::forward<Args>(args)...);
}

}  // namespace ubique
