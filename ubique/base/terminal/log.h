// SPDX-License-Identifier: Apache-2.0
// Log lines on stderr (stdout is for data). Library code may log; only cli/ sets the level.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace ubique::log {

enum class Level { Quiet, Normal, Verbose };
enum class Severity { Debug, Info, Warning, Error };

/// Called once by cli/: errors only, warnings and notes, or everything. Colour on a terminal only,
/// and never when NO_COLOR is set. Until then: Normal.
void configure(Level level);
bool colour_wanted(int file_descriptor);

bool wanted(Severity severity);
/// One line: "ubique: warning: MESSAGE"; a note has no severity in front. Control characters are
/// escaped (printable.h).
void write(Severity severity, std::string_view message);

template <typename... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  if (wanted(Severity::Debug)) {
    write(Severity::Debug, fmt::format(format, std::forward<Args>(args)...));
  }
}
template <typename... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  if (wanted(Severity::Info)) {
    write(Severity::Info, fmt::format(format, std::forward<Args>(args)...));
  }
}
template <typename... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  if (wanted(Severity::Warning)) {
    write(Severity::Warning, fmt::format(format, std::forward<Args>(args)...));
  }
}
template <typename... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(Severity::Error, fmt::format(format, std::forward<Args>(args)...));
}

/// A note that is written once per process, however often it is given.
void info_once(const std::string& message);
/// Warns once per process for each key ("cache.read_only").
void warn_once(const std::string& key, const std::string& message);

}  // namespace ubique::log
