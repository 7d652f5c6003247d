// SPDX-License-Identifier: Apache-2.0
// Shows an address in the person's browser, where there is one.
#pragma once

#include <string>

namespace ubique::cli {

/// True if a program took the address. A machine without one, or a connection by SSH, is no error.
bool open_browser(const std::string& address);

}  // namespace ubique::cli
