// SPDX-License-Identifier: Apache-2.0
// How byte-level vocabularies spell bytes: printable Latin-1 characters stand for themselves, the
// other 68 bytes for the characters from U+0100 on, in order. So a space is written "Ġ".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ubique::io {

char32_t visible_character(unsigned char byte);

std::string visible_bytes(std::string_view bytes);
/// Nothing if some character stands for no byte.
std::optional<std::string> raw_bytes(std::string_view visible);

}  // namespace ubique::io
