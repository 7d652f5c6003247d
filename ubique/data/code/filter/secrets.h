// SPDX-License-Identifier: Apache-2.0
// Finds credentials in texts: private keys, tokens of known services, JSON web tokens, passwords in
// addresses, and assignments of random-looking values to names such as api_key. Written by hand, in
// one pass, linear in the text.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ubique::data {

struct Secret {
  std::size_t first = 0, length = 0;  ///< bytes of the text
  std::string_view kind = {};         ///< "private_key", "aws_key", "password_in_url", ...
};

/// In order, without overlaps.
std::vector<Secret> find_secrets(std::string_view text);

/// False if no secret begins in this line, whatever comes before and after it: a line with its line
/// end in front or behind, or a text whose neighbours end and begin with '<', '>' or a line end.
bool may_begin_secret(std::string_view line);

/// What stands in place of a secret: "<SECRET>".
inline constexpr std::string_view kSecretPlaceholder = "<SECRET>";

}  // namespace ubique::data
