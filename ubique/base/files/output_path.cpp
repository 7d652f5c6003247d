// SPDX-License-Identifier: Apache-2.0
// Tries an output path by opening and discarding an atomic file.
#include "ubique/base/files/output_path.h"

#include "ubique/base/files/file.h"

namespace ubique {

void make_folder_of(const std::filesystem::path& path) {
  if (!path.parent_path().empty()) make_folder(path.parent_path());
}

void check_output_file(const std::filesystem::path& path) {
  if (path.empty()) return;
  make_folder_of(path);
  const AtomicFile trial(path);  // not committed: leaves nothing behind
}

}  // namespace ubique
