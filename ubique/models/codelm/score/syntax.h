// SPDX-License-Identifier: Apache-2.0
// Is a completion well-formed code? Python's own parser says so where it is installed; else
// brackets are counted.
#pragma once

#include <string>
#include <string_view>

namespace ubique::codelm {

/// The first statement of a text with all that is indented below it, whole lines only: a completion
/// is cut anywhere, which is no error of it.
std::string first_statement(std::string_view text);

/// Are brackets closed in the order in which they were opened? Those in strings and in comments
/// (from `comment` to the end of the line) do not count.
bool brackets_match(std::string_view text, std::string_view comment);

/// Does Python's parser accept it? Nothing of it is executed. Internal error without python3.
bool python_parses(const std::string& text);

}  // namespace ubique::codelm
