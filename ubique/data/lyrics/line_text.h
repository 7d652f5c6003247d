// SPDX-License-Identifier: Apache-2.0
// Characters of a line as Python sees them: spaces, and what belongs to words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ubique::data {

bool is_space_at(std::string_view text, std::size_t at);
/// Whether a letter, a digit or an underscore stands at `at`; false at the end.
bool is_word_at(std::string_view text, std::size_t at);
/// The same of the character before `at`; false at the beginning.
bool is_word_before(std::string_view text, std::size_t at);

/// Without whitespace at both ends.
std::string_view stripped_line(std::string_view text);
/// Each run of whitespace becomes one space.
std::string single_spaced(std::string_view text);

}  // namespace ubique::data
