// SPDX-License-Identifier: Apache-2.0
// Makes foreign text safe to print: a tensor's name, a file's name or a model's answer must not
// control the terminal or fill the screen.
#pragma once

#include <string>
#include <string_view>

namespace ubique {

/// For a name inside a line: escapes control characters (line ends too) and invalid UTF-8 as \xNN,
/// characters that reverse the reading direction as \u{NNNN}; cuts after `limit` bytes with "…".
std::string printable(std::string_view text, std::size_t limit = 160);

/// For whole lines: the same, but line ends and tabs stay.
std::string printable_lines(std::string_view text, std::size_t limit = std::string_view::npos);

}  // namespace ubique
