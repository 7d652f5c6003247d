// SPDX-License-Identifier: Apache-2.0
// The system's own link to it, else the place beside the library.
#include "ubique/cli/serve/program_path.h"

#include <filesystem>

#include "ubique/base/error.h"
#include "ubique/base/files/library.h"
#include "ubique/base/files/process.h"

namespace ubique::cli {

std::string program_path() {
  std::error_code error;
  const auto link = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error && link.filename().string().starts_with("ubique")) return link.string();
  const auto folder = library_folder();
  for (const auto* place : {"../bin/ubique", "ubique"}) {
    const auto path = folder / place;
    if (std::filesystem::is_regular_file(path, error)) return path.lexically_normal().string();
  }
  const auto found = find_program("ubique");
  check(found.has_value(), ErrorKind::Internal,
        "[cli.serve] the program's own file cannot be found; expected it in bin/ beside lib/.");
  return found->string();
}

}  // namespace ubique::cli
