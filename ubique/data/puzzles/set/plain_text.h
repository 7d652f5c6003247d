// SPDX-License-Identifier: Apache-2.0
// Files that people give as text: whether they are, and what of them can be shown in a message.
// Inside the room only.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ubique/base/error.h"
#include "ubique/io/archive/file_type.h"
#include "ubique/io/text/printable.h"
#include "ubique/io/text/utf8.h"

namespace ubique::data {

/// Input error for pictures, archives and the like: they have a zero soon.
inline void check_plain_text(std::string_view text, const std::string& where) {
  const auto start = text.substr(0, 4096);
  if (start.find('\0') == std::string_view::npos) return;
  const auto known = io::looks_like(std::as_bytes(std::span(start)));
  fail(ErrorKind::Input, "[data.puzzle_text] {} is no text; got {}, expected puzzles as text.",
       where, known.empty() ? "zero bytes in it" : known);
}

/// The letter that begins there, safe for a terminal.
inline std::string shown_letter(std::string_view text, std::size_t at) {
  return io::printable(text.substr(at, io::code_point_at(text, at).length));
}

}  // namespace ubique::data
