// SPDX-License-Identifier: Apache-2.0
#include "ubique/io/printable.h"

#include <fmt/format.h>

#include <iterator>

namespace ubique::io {

std::string printable(std::string_view text, std::size_t limit) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool continues = (byte & 0xC0U) == 0x80U;
    if (i >= limit && !continues) return out + "…";
    // U+0080 to U+009F are control characters too; in UTF-8 they are C2 80 to C2 9F.
    const bool c1 =
        byte == 0xC2U && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0U;
    if (byte < 0x20U || byte == 0x7FU || c1) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}",
                     c1 ? static_cast<unsigned char>(text[++i]) : byte);
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace ubique::io
