// SPDX-License-Identifier: Apache-2.0
// Character classes of code points, as tokenizers need them: from Unicode's tables, independent of
// the locale.
#pragma once

#include <cstdint>

namespace ubique::io {

enum class CharacterClass : std::uint8_t { Letter, Number, Space, Other };

/// Letter: \p{L}; Number: \p{N}; Space: the property White_Space.
CharacterClass character_class(char32_t point);

/// \w of Unicode's regular expressions: letters, marks, digits, connectors such as the underscore.
bool is_word_character(char32_t point);

}  // namespace ubique::io
