// SPDX-License-Identifier: Apache-2.0
// Checks file names that come from untrusted files: only files in the same folder may be opened.
#pragma once

#include <algorithm>
#include <string_view>

namespace ubique::io {

/// Whether it is a file name without folders and control characters.
inline bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         std::none_of(name.begin(), name.end(), [](char letter) {
           return letter == '/' || letter == '\\' || static_cast<unsigned char>(letter) < 0x20U;
         });
}

}  // namespace ubique::io
