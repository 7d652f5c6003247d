// SPDX-License-Identifier: Apache-2.0
// Makes text from untrusted files safe to print: a tensor's name must not control the terminal or
// fill the screen.
#pragma once

#include <string>
#include <string_view>

namespace ubique::io {

/// Escapes control characters and invalid UTF-8 as \xNN; cuts after `limit` bytes with "…".
std::string printable(std::string_view text, std::size_t limit = 160);

}  // namespace ubique::io
