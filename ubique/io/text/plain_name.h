// SPDX-License-Identifier: Apache-2.0
// Names of files that come from files: only what lies beside is opened.
#pragma once

#include <algorithm>
#include <string_view>

namespace ubique::io {

/// A file's name without folders and control characters.
inline bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         std::none_of(name.begin(), name.end(), [](char letter) {
           return letter == '/' || letter == '\\' || static_cast<unsigned char>(letter) < 0x20U;
         });
}

}  // namespace ubique::io
