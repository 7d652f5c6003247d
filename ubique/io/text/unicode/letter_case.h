// SPDX-License-Identifier: Apache-2.0
// Upper, lower and title case of whole texts, as Python's str methods change them. A sigma at the
// end of a word becomes σ, not ς.
#pragma once

#include <string>
#include <string_view>

namespace ubique::io {

std::string upper_case(std::string_view text);
std::string lower_case(std::string_view text);
/// Each character in title case: ǆ becomes ǅ, ß becomes Ss.
std::string title_case(std::string_view text);

}  // namespace ubique::io
