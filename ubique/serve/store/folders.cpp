// SPDX-License-Identifier: Apache-2.0
// Paths are made from checked names only.
#include "ubique/serve/store/folders.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/utf8.h"

namespace ubique::serve {
namespace {

namespace fs = std::filesystem;

fs::path home_folder() {
  const char* home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? fs::path(home) : fs::temp_directory_path();
}

bool stays(unsigned char c) {
  return c >= 0x80 || std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_';
}

}  // namespace

fs::path usual_data_folder() {
  if (const char* folder = std::getenv("XDG_DATA_HOME"); folder != nullptr && *folder == '/') {
    return fs::path(folder) / "ubique";
  }
  const auto library = home_folder() / "Library" / "Application Support";
  std::error_code ignored;
  if (fs::is_directory(library, ignored)) return library / "ubique";
  return home_folder() / ".local" / "share" / "ubique";
}

Folders::Folders(const fs::path& root)
    : root(fs::absolute(root).lexically_normal()),
      uploads(this->root / "uploads"),
      results(this->root / "results"),
      work(this->root / "work"),
      temporary(this->root / "temporary"),
      models(this->root / "models") {
  for (const auto& folder : {this->root, uploads, results, work, temporary, models}) {
    make_folder(folder);
  }
  std::error_code ignored;  // songs and scans are private
  fs::permissions(this->root, fs::perms::owner_all, ignored);
}

fs::path Folders::result(std::int64_t job) const { return results / std::to_string(job); }

fs::path Folders::upload(const std::string& id) const { return uploads / id; }

std::string safe_name(const std::string& name) {
  constexpr std::size_t kLongest = 100;
  auto last = name.substr(name.find_last_of("/\\") + 1);
  if (!is_utf8(last)) last = "file";
  for (auto& c : last) {
    if (!stays(static_cast<unsigned char>(c))) c = '_';
  }
  last.erase(0, std::min(last.find_first_not_of("._-"), last.size()));
  if (last.size() > kLongest) {
    // From the front, where no ending is: "scan.nii.gz" must stay one.
    auto cut = last.substr(last.size() - kLongest);
    while (!cut.empty() && (static_cast<unsigned char>(cut.front()) & 0xC0U) == 0x80U) {
      cut.erase(0, 1);
    }
    last = cut;
  }
  return last.empty() ? "file" : last;
}

std::optional<fs::path> inside(const fs::path& base, const std::string& path) {
  if (path.find('\0') != std::string::npos || path.starts_with('/')) return std::nullopt;
  const fs::path relative(path);
  for (const auto& part : relative) {
    if (part == "..") return std::nullopt;
  }
  std::error_code error;
  const auto root = fs::canonical(base, error);
  if (error) return std::nullopt;
  const auto full = fs::canonical(root / relative, error);
  if (error) return std::nullopt;
  const auto [end, rest] = std::mismatch(root.begin(), root.end(), full.begin(), full.end());
  if (end != root.end()) return std::nullopt;
  return full;
}

FolderLock::FolderLock(const Folders& folders) : path_(folders.root / "lock") {
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  check(descriptor_ >= 0, ErrorKind::Input, "[serve.lock] cannot write {}.", path_.string());
  held_ = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
}

FolderLock::~FolderLock() { ::close(descriptor_); }

std::string FolderLock::note() const { return read_start(path_, 4096); }

void FolderLock::write_note(const std::string& note) {
  // In place: a renamed file would be another one than the one that is locked.
  const bool written =
      ::ftruncate(descriptor_, 0) == 0 &&
      ::pwrite(descriptor_, note.data(), note.size(), 0) == static_cast<ssize_t>(note.size());
  check(written, ErrorKind::Input, "[serve.lock] cannot write {}; is the disk full?",
        path_.string());
}

}  // namespace ubique::serve
