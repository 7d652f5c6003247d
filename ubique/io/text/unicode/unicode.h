// SPDX-License-Identifier: Apache-2.0
// Character classes of code points, as tokenizers need them: from Unicode's tables, independent of
// the locale.
#pragma once

#include <array>
#include <cstdint>

namespace ubique::io {

enum class CharacterClass : std::uint8_t { Letter, Number, Space, Other };

/// The classes of ASCII: nearly all characters of most texts.
inline constexpr auto kAsciiClasses = [] {
  std::array<CharacterClass, 128> classes{};
  classes.fill(CharacterClass::Other);
  const auto set = [&](char first, char last, CharacterClass kind) {
    for (auto i = static_cast<std::size_t>(first); i <= static_cast<std::size_t>(last); ++i) {
      classes[i] = kind;
    }
  };
  set('a', 'z', CharacterClass::Letter);
  set('A', 'Z', CharacterClass::Letter);
  set('0', '9', CharacterClass::Number);
  set('\t', '\r', CharacterClass::Space);
  set(' ', ' ', CharacterClass::Space);
  return classes;
}();

CharacterClass wide_character_class(char32_t point);  ///< of any code point, by search

/// Letter: \p{L}; Number: \p{N}; Space: the property White_Space.
inline CharacterClass character_class(char32_t point) {
  return point < kAsciiClasses.size() ? kAsciiClasses[point] : wide_character_class(point);
}

/// \w of Unicode's regular expressions: letters, marks, digits, connectors such as the underscore.
bool is_word_character(char32_t point);

}  // namespace ubique::io
