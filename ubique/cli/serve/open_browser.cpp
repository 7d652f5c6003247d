// SPDX-License-Identifier: Apache-2.0
// The programs that desktops have for it, in turn.
#include "ubique/cli/serve/open_browser.h"

#include <cstdlib>

#include "ubique/base/files/process.h"

namespace ubique::cli {

bool open_browser(const std::string& address) {
  const char* chosen = std::getenv("BROWSER");
  if (chosen != nullptr && *chosen != '\0' && find_program(chosen)) {
    return run_program({chosen, address}).value_or(1) == 0;
  }
  // Over SSH a browser would open on the other machine's screen.
  if (std::getenv("SSH_CONNECTION") != nullptr) return false;
  const bool screen =
      std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
  if (find_program("wslview") && run_program({"wslview", address}).value_or(1) == 0) return true;
  if (find_program("xdg-open"))
    return screen && run_program({"xdg-open", address}).value_or(1) == 0;
  return find_program("open") && run_program({"open", address}).value_or(1) == 0;
}

}  // namespace ubique::cli
