// SPDX-License-Identifier: Apache-2.0
// By code points; invalid bytes belong to no word.
#include "ubique/data/lyrics/line_text.h"

#include "ubique/base/text/utf8.h"
#include "ubique/io/text/unicode/unicode.h"

namespace ubique::data {

bool is_space_at(std::string_view text, std::size_t at) {
  const auto point = code_point_at(text, at);
  const bool separator = point.value >= 0x1C && point.value <= 0x1F;  // spaces in Python
  return point.valid &&
         (separator || io::character_class(point.value) == io::CharacterClass::Space);
}

bool is_word_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) return false;
  const auto point = code_point_at(text, at);
  const auto kind = io::character_class(point.value);
  return point.valid && (kind == io::CharacterClass::Letter || kind == io::CharacterClass::Number ||
                         point.value == '_');
}

bool is_word_before(std::string_view text, std::size_t at) {
  if (at == 0) return false;
  do {
    --at;
  } while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U);
  return is_word_at(text, at);
}

std::string_view stripped_line(std::string_view text) {
  std::size_t begin = 0, end = 0;
  for (std::size_t at = 0; at < text.size(); at += code_point_at(text, at).length) {
    if (!is_space_at(text, at)) {
      end = at + code_point_at(text, at).length;
    } else if (end == 0) {
      begin = at + code_point_at(text, at).length;
    }
  }
  return end == 0 ? std::string_view() : text.substr(begin, end - begin);
}

std::string single_spaced(std::string_view text) {
  std::string out;
  bool space = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto length = code_point_at(text, at).length;
    if (is_space_at(text, at)) {
      if (!space) out += ' ';
      space = true;
    } else {
      out += text.substr(at, length);
      space = false;
    }
    at += length;
  }
  return out;
}

}  // namespace ubique::data
