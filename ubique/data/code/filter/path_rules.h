// SPDX-License-Identifier: Apache-2.0
// Which files of a repository are worth learning from: globs of the person, and named rules for
// vendored, generated, minified and lock files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ubique::data {

/// "*" matches within a folder, "**" over folders, "?" one character. A pattern without "/" matches
/// the file's name, one that ends with "/" everything below that folder. Linear time and memory.
bool glob_matches(std::string_view pattern, std::string_view path);

struct PathRules {
  std::vector<std::string> paths = {};    ///< globs; empty: all
  std::vector<std::string> exclude = {};  ///< globs
  bool builtin = true;                    ///< the named rules below
};

/// The reason why a file is left out: "path", "excluded", "vendored", "generated", "minified",
/// "lock_file"; empty if it is taken.
std::string_view path_refusal(const PathRules& rules, std::string_view path);

/// The same by content: "generated" (a note in the first lines), "minified" (very long lines), or
/// empty.
std::string_view content_refusal(std::string_view text);

}  // namespace ubique::data
