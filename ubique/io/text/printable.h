// SPDX-License-Identifier: Apache-2.0
// Texts that come from files, made safe to show: a tensor's name must not move the cursor of a
// terminal or fill the screen.
#pragma once

#include <string>
#include <string_view>

namespace ubique::io {

/// Control characters and bytes that are no UTF-8 as \xNN; more than `limit` bytes are cut, with
/// "…" in their place.
std::string printable(std::string_view text, std::size_t limit = 160);

}  // namespace ubique::io
