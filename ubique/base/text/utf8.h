// SPDX-License-Identifier: Apache-2.0
// Decoding, validation and encoding of UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ubique {

struct CodePoint {
  char32_t value = 0;      ///< U+FFFD if invalid
  std::size_t length = 0;  ///< bytes; if invalid, the longest prefix of a valid sequence
  bool valid = false;
  bool cut = false;  ///< invalid only because the text ends too early
};

/// The code point at byte `at`, which must be inside the text. Overlong forms, surrogates and
/// points above U+10FFFF are invalid.
CodePoint code_point_at(std::string_view text, std::size_t at);

bool is_utf8(std::string_view text);

/// Replaces each invalid sequence by U+FFFD.
std::string replace_invalid_utf8(std::string_view text);

/// Length of the text without an incomplete code point at its end: what can be printed already.
std::size_t complete_utf8(std::string_view text);

/// `point` must be at most U+10FFFF.
void append_utf8(std::string& text, char32_t point);

}  // namespace ubique
