// SPDX-License-Identifier: Apache-2.0
// Tries an output path by opening and discarding an atomic file.
#include "ubique/base/files/output_path.h"

#include "ubique/base/files/file.h"

namespace ubique {

void make_folder_of(const std::filesystem::path& path) {
  if (!path.parent_path().empty()) make_folder(path.parent_path());
}

void check_output_folder(const std::filesystem::path& path) {
  const auto is_missing = [](const std::filesystem::path& place) {
    std::error_code ignored;
    return std::filesystem::symlink_status(place, ignored).type() ==
           std::filesystem::file_type::not_found;
  };
  auto place = path;
  while (is_missing(place) && place.has_parent_path()) place = place.parent_path();
  make_folder(is_missing(place) ? "." : place);  // it is there: this only tries it
}

void check_output_file(const std::filesystem::path& path) {
  if (path.empty()) return;
  make_folder_of(path);
  const AtomicFile trial(path);  // not committed: leaves nothing behind
}

}  // namespace ubique
