// SPDX-License-Identifier: Apache-2.0
// Exit codes and names of the error kinds.
#include "ubique/base/error.h"

namespace ubique {
namespace {

constexpr std::size_t kLongestStart = 3000, kLongestEnd = 1000;

/// The nearest byte from here on that begins a UTF-8 character.
std::size_t character_from(const std::string& text, std::size_t at) {
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) ++at;
  return at;
}

/// The tag is at the start and the hint at the end; in between may stand a row of 20 MB.
std::string without_long_middle(const std::string& message) {
  if (message.size() <= kLongestStart + kLongestEnd) return message;
  const auto from = character_from(message, kLongestStart);
  const auto to = character_from(message, message.size() - kLongestEnd);
  if (from >= to) return message;
  return fmt::format("{} … ({} bytes left out) … {}", message.substr(0, from), to - from,
                     message.substr(to));
}

}  // namespace

Error::Error(ErrorKind kind, const std::string& message)
    : std::runtime_error(without_long_middle(message)), kind_(kind) {}

ExitCode exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Usage:
      return ExitCode::Usage;
    case ErrorKind::Input:
      return ExitCode::Input;
    case ErrorKind::Device:
      return ExitCode::Device;
    case ErrorKind::Parity:
      return ExitCode::Parity;
    case ErrorKind::Internal:
      break;
  }
  return ExitCode::Internal;
}

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Usage:
      return "usage";
    case ErrorKind::Input:
      return "input";
    case ErrorKind::Device:
      return "device";
    case ErrorKind::Parity:
      return "parity";
    case ErrorKind::Internal:
      break;
  }
  return "internal";
}

}  // namespace ubique
