// SPDX-License-Identifier: Apache-2.0
// Removes what a failed write or read-back leaves.
#include "ubique/engine/checkpoint/write_checked.h"

#include "ubique/base/error.h"

namespace ubique::engine {

namespace fs = std::filesystem;

void write_checked(const fs::path& path, const std::string& place,
                   const std::function<void()>& write_and_check) {
  check(!fs::exists(path), ErrorKind::Usage, "[{}] {} exists already; expected a new name.", place,
        path.string());
  auto data = path;
  data += ".data";
  const bool had_data = fs::exists(data);  // not ours to remove
  try {
    write_and_check();
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
    if (!had_data) fs::remove(data, ignored);
    throw;
  }
}

}  // namespace ubique::engine
