// SPDX-License-Identifier: Apache-2.0
// A folder that appears complete or not at all, and may replace one of the same name. Independent
// of the folder's contents.
#pragma once

#include <filesystem>

namespace ubique::engine {

/// How one folder replaces another.
enum class Swap {
  Exchange,  ///< atomically where the file system supports it, else as Renames
  Renames,   ///< the old one is renamed first
};

/// A hidden folder `.tmp-...` beside the final one. A process that dies while filling it leaves it
/// behind; the next TemporaryFolder with the same parent removes it. A lock shows whether the
/// process that made a leftover folder still runs.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::filesystem::path& parent);
  ~TemporaryFolder();  ///< removes it unless published
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Renames it to `folder`, of the same parent. An older folder of that name is removed, or kept
  /// as previous_of(folder) if `keep_previous`. At every moment `folder` is complete, or absent
  /// while previous_of(folder) is complete.
  void publish(const std::filesystem::path& folder, bool keep_previous, Swap swap = Swap::Exchange);

 private:
  bool lock();
  void replace(const std::filesystem::path& folder, Swap swap);
  void keep_as(const std::filesystem::path& previous);

  std::filesystem::path path_;
  int lock_ = -1;
};

/// Removes a folder without it ever being partly deleted under its own name.
void discard_folder(const std::filesystem::path& folder);

/// Where the folder that `folder` replaced is kept: ".last.previous" for "last".
std::filesystem::path previous_of(const std::filesystem::path& folder);

}  // namespace ubique::engine
