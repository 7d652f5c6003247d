// SPDX-License-Identifier: Apache-2.0
// Escapes text code point by code point.
#include "ubique/base/text/printable.h"

#include <fmt/format.h>

#include <iterator>

#include "ubique/base/text/utf8.h"

namespace ubique {
namespace {

// U+0080 to U+009F are control characters too: terminals take U+009B for ESC [.
bool is_control(char32_t value) { return value < 0x20U || (value >= 0x7FU && value < 0xA0U); }

/// Line and paragraph separators, and what makes "txt.exe" of "exe.txt" on the screen.
bool changes_order(char32_t value) {
  return (value >= 0x2028U && value <= 0x202EU) || (value >= 0x2066U && value <= 0x2069U);
}

std::string escaped_text(std::string_view text, std::size_t limit, std::string_view kept) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (i >= limit) return out + "…";
    const auto point = code_point_at(text, i);
    const auto bytes = text.substr(i, point.length);
    const auto value = static_cast<unsigned>(point.value);
    i += point.length;
    if (!point.valid) {
      for (const char byte : bytes) {
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(byte));
      }
    } else if (changes_order(point.value)) {
      fmt::format_to(std::back_inserter(out), "\\u{{{:x}}}", value);
    } else if (is_control(point.value) && kept.find(bytes) == std::string_view::npos) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", value);
    } else {
      out += bytes;
    }
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text, std::size_t limit) {
  return escaped_text(text, limit, "");
}

std::string printable_lines(std::string_view text, std::size_t limit) {
  return escaped_text(text, limit, "\n\t");
}

}  // namespace ubique
