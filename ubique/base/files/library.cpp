// SPDX-License-Identifier: Apache-2.0
// Asks the dynamic loader where libubique was loaded from.
#include "ubique/base/files/library.h"

#include <dlfcn.h>

namespace ubique {

std::filesystem::path library_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&library_folder), &info) == 0) return {};
  std::error_code error;
  const auto path = std::filesystem::weakly_canonical(info.dli_fname, error);
  return (error ? std::filesystem::path(info.dli_fname) : path).parent_path();
}

std::vector<std::filesystem::path> data_places() {
  const auto tree = library_folder().parent_path();  // PREFIX of lib/, or build/PRESET
  return {{}, tree / "share" / "ubique", tree.parent_path().parent_path()};
}

std::filesystem::path find_data(const std::filesystem::path& path) {
  for (const auto& place : data_places()) {
    std::error_code ignored;
    if (std::filesystem::exists(place / path, ignored)) return place / path;
  }
  return {};
}

}  // namespace ubique
