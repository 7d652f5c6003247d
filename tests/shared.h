// SPDX-License-Identifier: Apache-2.0
// Golden data that lies beside the project, where it does.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

namespace ubique::test {

/// ../shared/NAME, or an empty path and a printed reason.
inline std::filesystem::path shared_folder(const std::string& name) {
  const auto folder = std::filesystem::path(UBIQUE_SOURCE_DIR) / ".." / "shared" / name;
  if (std::filesystem::exists(folder)) return folder;
  MESSAGE("skipped: no ", folder.string());
  return {};
}

}  // namespace ubique::test
