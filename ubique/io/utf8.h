// SPDX-License-Identifier: Apache-2.0
// Whether bytes from a file are text at all, before they become a name.
#pragma once

#include <string_view>

namespace ubique::io {

/// False for overlong forms, surrogates and code points above U+10FFFF too.
bool is_utf8(std::string_view text);

}  // namespace ubique::io
