// SPDX-License-Identifier: Apache-2.0
// Bytes as text of 64 letters, and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ubique {

std::string base64(std::string_view bytes);
/// The bytes; nothing for other letters or a wrong length.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace ubique
