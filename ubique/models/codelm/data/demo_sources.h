// SPDX-License-Identifier: Apache-2.0
// Source files on this machine that a demo can train on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ubique::codelm {

struct DemoSources {
  std::filesystem::path folder;
  bool python = false;  ///< else C or C++
  std::vector<std::filesystem::path> files;
  std::int64_t bytes = 0;
};

/// Files below `given`, or if that is empty below Python's standard library, or below /usr/include:
/// some of each part, in an order that depends on their names alone, up to `most_bytes`. Input
/// error that says how to name a folder where there are none.
DemoSources find_demo_sources(const std::filesystem::path& given, std::int64_t most_bytes);

}  // namespace ubique::codelm
