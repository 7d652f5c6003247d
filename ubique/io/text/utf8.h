// SPDX-License-Identifier: Apache-2.0
// Bytes as text: whether they are UTF-8 at all, and their code points one by one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ubique::io {

struct CodePoint {
  char32_t value = 0;      ///< U+FFFD where the bytes are none
  std::size_t length = 0;  ///< bytes; of what is none, the longest part that could begin one
  bool valid = false;
  bool cut = false;  ///< not valid only because the text ends too early
};

/// The code point that begins at byte `at` of the text, which has more than `at` bytes. Overlong
/// forms, surrogates and points above U+10FFFF are none.
CodePoint code_point_at(std::string_view text, std::size_t at);

bool is_utf8(std::string_view text);

/// Each part that is no UTF-8 as one U+FFFD.
std::string replace_invalid_utf8(std::string_view text);

/// How many bytes of the text's start can be shown already: all but a code point that still lacks
/// its last bytes.
std::size_t complete_utf8(std::string_view text);

/// Appends the code point, which must be valid.
void append_utf8(std::string& text, char32_t point);

}  // namespace ubique::io
