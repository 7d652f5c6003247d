// SPDX-License-Identifier: Apache-2.0
// Checks that input is text, and makes its characters safe for error messages.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/utf8.h"
#include "ubique/io/archive/file_type.h"

namespace ubique::data {

/// Input error for binary files (images, archives): they have a zero byte near the start.
inline void check_plain_text(std::string_view text, const std::string& where) {
  const auto start = text.substr(0, 4096);
  if (start.find('\0') == std::string_view::npos) return;
  const auto known = io::looks_like(std::as_bytes(std::span(start)));
  fail(ErrorKind::Input, "[data.puzzle_text] {} is no text; got {}, expected puzzles as text.",
       where, known.empty() ? "zero bytes in it" : known);
}

/// The UTF-8 character at a byte offset, safe for a terminal.
inline std::string printable_letter(std::string_view text, std::size_t at) {
  return printable(text.substr(at, code_point_at(text, at).length));
}

}  // namespace ubique::data
