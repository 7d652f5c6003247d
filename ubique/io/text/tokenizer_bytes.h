// SPDX-License-Identifier: Apache-2.0
// The spelling of bytes in byte-level vocabularies: printable Latin-1 characters are kept, the
// other 68 bytes become the characters from U+0100 on, in order. A space is spelled "Ġ".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ubique::io {

/// The character that spells a byte.
char32_t visible_character(unsigned char byte);

/// The spelling of bytes.
std::string visible_bytes(std::string_view bytes);
/// The inverse; nothing if some character spells no byte.
std::optional<std::string> raw_bytes(std::string_view visible);

}  // namespace ubique::io
