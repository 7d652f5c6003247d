// SPDX-License-Identifier: Apache-2.0
// What a file is: by its content where it comes from outside, by its name where we wrote it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ubique::serve {

struct FileType {
  std::string type;    ///< "sound", "picture", "scan", "video", "text", "puzzle", "array"
  std::string mime;    ///< "audio/wav"
  std::string ending;  ///< that commands know it by: ".wav"
};

/// Looks at the first bytes (`start`; of a gzip file also into it). Nothing for what no command
/// reads: programs, web pages, anything unknown.
std::optional<FileType> sniff(std::string_view start);

/// For files of ours, by the ending.
std::string mime_of(const std::filesystem::path& path);

}  // namespace ubique::serve
