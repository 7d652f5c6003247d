// SPDX-License-Identifier: Apache-2.0
// Where sources usually lie, and a choice among them.
#include "ubique/models/codelm/data/demo_sources.h"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "ubique/base/error.h"
#include "ubique/base/files/process.h"
#include "ubique/base/numbers/random.h"
#include "ubique/base/text/text.h"

namespace ubique::codelm {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLargestFile = 100'000, kSmallestFile = 500;  // bytes
constexpr std::int64_t kFewestBytes = 20'000;                        // of all files
constexpr std::uint64_t kChoiceSeed = 7;

/// What Python itself says; empty if there is none.
fs::path python_library() {
  if (!find_program("python3")) return {};
  PipedProgram python(
      {"python3", "-c", "import sysconfig; print(sysconfig.get_paths()['stdlib'], end='')"},
      PipeEnd::Read);
  std::string path;
  char piece[256];
  for (ssize_t got = 0; (got = ::read(python.descriptor(), piece, sizeof piece)) > 0;) {
    path.append(piece, static_cast<std::size_t>(got));
  }
  return python.finish() == 0 ? fs::path(path) : fs::path();
}

/// Tables and tests are not what a person writes; installed packages differ between machines.
bool is_left_out(const std::string& folder) {
  static const std::set<std::string> kLeftOut = {"__pycache__", "test",          "tests",
                                                 "idlelib",     "site-packages", "dist-packages",
                                                 "encodings",   "pydoc_data",    ".git"};
  return kLeftOut.contains(folder);
}

std::vector<fs::path> files_below(const fs::path& folder, const std::set<std::string>& extensions) {
  std::vector<fs::path> files;
  std::error_code error;
  auto entry = fs::recursive_directory_iterator(
      folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code gone;
    if (entry->is_directory(gone) && is_left_out(entry->path().filename().string())) {
      entry.disable_recursion_pending();
    }
    if (!entry->is_regular_file(gone) || !extensions.contains(entry->path().extension().string())) {
      continue;
    }
    const auto size = static_cast<std::int64_t>(entry->file_size(gone));
    if (!gone && size >= kSmallestFile && size <= kLargestFile) files.push_back(entry->path());
  }
  std::ranges::sort(files);
  return files;
}

DemoSources choose(const fs::path& folder, bool python, std::int64_t most_bytes) {
  DemoSources sources{folder, python, {}, 0};
  if (folder.empty()) return sources;
  const auto files = python ? files_below(folder, {".py"})
                            : files_below(folder, {".c", ".cc", ".cpp", ".h", ".hpp"});
  for (const auto i : Random(kChoiceSeed).permutation(static_cast<std::int64_t>(files.size()))) {
    const auto& file = files[static_cast<std::size_t>(i)];
    std::error_code gone;
    const auto size = static_cast<std::int64_t>(fs::file_size(file, gone));
    if (gone || sources.bytes + size > most_bytes) continue;
    sources.files.push_back(file);
    sources.bytes += size;
  }
  std::ranges::sort(sources.files);
  return sources;
}

}  // namespace

DemoSources find_demo_sources(const fs::path& given, std::int64_t most_bytes) {
  check(given.empty() || fs::is_directory(given), ErrorKind::Input,
        "[codelm.demo] --sources {} is no folder.", given.string());
  const auto python_folder = given.empty() ? python_library() : given;
  const auto other_folder = given.empty() ? fs::path("/usr/include") : given;
  auto sources = choose(python_folder, true, most_bytes);
  if (sources.bytes < kFewestBytes) sources = choose(other_folder, false, most_bytes);
  check(sources.bytes >= kFewestBytes, ErrorKind::Input,
        "[codelm.demo] too few sources to train on in {}; got {} bytes of Python or C++, expected "
        "{} or more. --sources DIR names a folder with some.",
        given.empty() ? "Python's standard library and /usr/include" : given.string(),
        sources.bytes, kFewestBytes);
  return sources;
}

}  // namespace ubique::codelm
