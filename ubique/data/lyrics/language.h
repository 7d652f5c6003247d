// SPDX-License-Identifier: Apache-2.0
// The languages of lyrics, and a simple guess of the language of a line: by its script, and by the
// small words and letters that tell the six spoken languages apart.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ubique/data/lyrics/numbers/numbers.h"

namespace ubique::data {

enum class LyricText {
  Speakable,  ///< numbers, abbreviations and symbols are spoken
  AsWritten,  ///< letters as they are; numbers must be written as words
  Romanised,  ///< only as romanised text: pinyin with tone digits, romaji, romanised Korean
};

struct LyricLanguage {
  std::string_view code;  ///< "en", "zh"
  std::string_view tag;   ///< its token in the vocabulary: "[en]", "[zh-cn]"
  std::string_view name;
  LyricText text;
  Spoken spoken = Spoken::English;  ///< if Speakable
};

std::span<const LyricLanguage> lyric_languages();
/// By code, also with a region ("pt-BR"); nullptr if there is none.
const LyricLanguage* find_lyric_language(std::string_view code);

/// nullptr if nothing tells, as with "na na na".
const LyricLanguage* guess_line_language(std::string_view line);
/// Of all lines together; English if nothing tells.
const LyricLanguage& guess_language(std::string_view lyrics);

/// The name of a script that no token has (Chinese, Japanese, Korean); nullopt if there is none.
std::optional<std::string_view> foreign_script(std::string_view text);

}  // namespace ubique::data
