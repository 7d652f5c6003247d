// SPDX-License-Identifier: Apache-2.0
// Python's string methods over traced text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/io/text/jinja/traced_text.h"

namespace ubique::io::jinja {

/// Byte offset of each character, and of the end.
std::vector<std::size_t> character_offsets(std::string_view text);
std::int64_t character_count(std::string_view text);

enum class Sides { Left, Right, Both };
/// Without the characters `set` at its sides; without a set, whitespace.
TracedText stripped(const TracedText& text, Sides sides,
                    const std::optional<std::string>& set = std::nullopt);
/// Cut at each `separator` (at runs of whitespace without one), at most `most` times (negative: at
/// all), from the right if so asked.
std::vector<TracedText> split_text(const TracedText& text,
                                   const std::optional<std::string>& separator, std::int64_t most,
                                   bool from_right);
std::vector<TracedText> lines_of(const TracedText& text, bool keep_ends);
/// At most `most` times (negative: everywhere).
TracedText replaced(const TracedText& text, std::string_view old, const TracedText& by,
                    std::int64_t most);
/// Every line but the first (unless `first`) moved right; blank lines only if `blank`.
TracedText indented(const TracedText& text, const TracedText& by, bool first, bool blank);

TracedText upper_case(const TracedText& text);
TracedText lower_case(const TracedText& text);
TracedText capitalized(const TracedText& text);
/// Each word begins with an upper case letter; a word begins after any other character than a
/// letter, or, as Jinja's filter has it, after blanks, brackets and hyphens only.
TracedText title_case(const TracedText& text, bool filter);

}  // namespace ubique::io::jinja
