// SPDX-License-Identifier: Apache-2.0
// The table of byte spellings in both directions.
#include "ubique/io/text/tokenizer_bytes.h"

#include <array>

#include "ubique/base/text/utf8.h"

namespace ubique::io {
namespace {

constexpr int kHiddenBytes = 68;

struct ByteSpelling {
  std::array<char32_t, 256> character{};
  std::array<int, 256 + kHiddenBytes> byte{};  // -1: the character spells no byte
};

bool is_kept(unsigned byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

const ByteSpelling& byte_spelling() {
  static const auto spelling = [] {
    ByteSpelling made;
    made.byte.fill(-1);
    char32_t next = 256;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const char32_t character = is_kept(byte) ? byte : next++;
      made.character[byte] = character;
      made.byte[character] = static_cast<int>(byte);
    }
    return made;
  }();
  return spelling;
}

}  // namespace

char32_t visible_character(unsigned char byte) { return byte_spelling().character[byte]; }

std::string visible_bytes(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes)
    append_utf8(text, visible_character(static_cast<unsigned char>(byte)));
  return text;
}

std::optional<std::string> raw_bytes(std::string_view visible) {
  const auto& bytes = byte_spelling().byte;
  std::string raw;
  for (std::size_t i = 0; i < visible.size();) {
    const auto point = code_point_at(visible, i);
    if (!point.valid || point.value >= bytes.size() || bytes[point.value] < 0) return std::nullopt;
    raw += static_cast<char>(bytes[point.value]);
    i += point.length;
  }
  return raw;
}

}  // namespace ubique::io
