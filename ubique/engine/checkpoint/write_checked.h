// SPDX-License-Identifier: Apache-2.0
// Writing a file that is read back before it counts: if anything fails, nothing is left behind.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace ubique::engine {

/// Runs `write_and_check`, which writes `path` (a file or a folder) and throws if what it reads
/// back is wrong. On any exception removes `path` and the `path`.data that it wrote, then rethrows.
/// Usage error if `path` exists. `place` is the tag of that message.
void write_checked(const std::filesystem::path& path, const std::string& place,
                   const std::function<void()>& write_and_check);

}  // namespace ubique::engine
