// SPDX-License-Identifier: Apache-2.0
// Names of models on a hub, and names of files that a hub lists: what may become part of a path.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ubique::io {

/// OWNER/NAME at a revision: a branch, a tag or a commit.
struct HubName {
  std::string owner, name;
  std::string revision = "main";

  std::string text() const { return owner + "/" + name; }
};

/// "OWNER/NAME", "OWNER/NAME@REVISION", each with or without "hf:" in front; nothing for any other
/// text. Letters, digits, '-', '_' and '.'; no part begins with '.'.
std::optional<HubName> parse_hub_name(std::string_view text);

/// Whether a path from a hub's listing names a file below its folder, on every system: no "..", no
/// empty part, no backslash, colon or control character, valid UTF-8.
bool is_safe_path(std::string_view path);

/// Is it 40 hexadecimal digits in lower case, or `count` of them?
bool is_hex(std::string_view text, std::size_t count = 40);

/// For the path of a URL: everything but letters, digits, "-._~" and '/' as %XX.
std::string url_path(std::string_view path);
std::string url_part(std::string_view text);  ///< '/' too

}  // namespace ubique::io
