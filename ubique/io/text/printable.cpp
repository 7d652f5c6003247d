// SPDX-License-Identifier: Apache-2.0
// Escapes text code point by code point.
#include "ubique/io/text/printable.h"

#include <fmt/format.h>

#include <iterator>

#include "ubique/io/text/utf8.h"

namespace ubique::io {

std::string printable(std::string_view text, std::size_t limit) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (i >= limit) return out + "…";
    const auto point = code_point_at(text, i);
    // U+0080 to U+009F are control characters too.
    const bool control = point.value < 0x20U || (point.value >= 0x7FU && point.value < 0xA0U);
    if (point.valid && !control) {
      out += text.substr(i, point.length);
    } else if (point.valid) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned>(point.value));
    } else {
      for (const char byte : text.substr(i, point.length)) {
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(byte));
      }
    }
    i += point.length;
  }
  return out;
}

}  // namespace ubique::io
