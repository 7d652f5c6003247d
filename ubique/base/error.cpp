// SPDX-License-Identifier: Apache-2.0
// Exit codes and names of the error kinds.
#include "ubique/base/error.h"

namespace ubique {

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
