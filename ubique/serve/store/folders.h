// SPDX-License-Identifier: Apache-2.0
// The data folder: what lies where, who has it open, and names from outside that become paths in
// it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace ubique::serve {

struct Folders {
  explicit Folders(const std::filesystem::path& root);  ///< makes them; Input error if it cannot

  std::filesystem::path root, uploads, results, work, temporary, models;

  std::filesystem::path result(std::int64_t job) const;
  std::filesystem::path upload(const std::string& id) const;
};

/// $XDG_DATA_HOME/ubique, ~/.local/share/ubique or, on a Mac, ~/Library/Application Support/ubique.
std::filesystem::path usual_data_folder();

/// A file's name from a client as one that is safe in a folder of ours: no folders, no leading dot,
/// letters and digits of any language, at most 100 bytes; the ending stays.
std::string safe_name(const std::string& name);

/// BASE/PATH, if that is inside of BASE with links followed and exists; else nothing.
std::optional<std::filesystem::path> inside(const std::filesystem::path& base,
                                            const std::string& path);

/// One server per data folder. The lock goes with the process, however it ends.
class FolderLock {
 public:
  /// Tries to take it.
  explicit FolderLock(const Folders& folders);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  bool held() const { return held_; }
  /// What the one that holds it has written: its address.
  std::string note() const;
  void write_note(const std::string& note);

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  bool held_ = false;
};

}  // namespace ubique::serve
