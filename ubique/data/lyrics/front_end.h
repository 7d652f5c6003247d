// SPDX-License-Identifier: Apache-2.0
// Makes a line of lyrics speakable as the lyric encoder was trained to read it: lower case,
// numbers, amounts of money, ordinals, abbreviations and symbols as words.
#pragma once

#include <string>
#include <string_view>

#include "ubique/data/lyrics/numbers/numbers.h"

namespace ubique::data {

std::string speakable(std::string_view line, Spoken language);

/// Lower case and single spaces only, for languages whose numbers we cannot speak.
std::string plain_line(std::string_view line);
/// Whether the line has digits or symbols that would have to be spoken.
bool has_numbers_or_symbols(std::string_view line);

}  // namespace ubique::data
