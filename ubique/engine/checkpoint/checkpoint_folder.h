// SPDX-License-Identifier: Apache-2.0
// A folder that appears complete or not at all, and may replace one of the same name. Knows
// nothing of what is in it.
#pragma once

#include <filesystem>

namespace ubique::engine {

/// How one folder takes the place of another.
enum class Swap {
  Exchange,  ///< in one instant, where the file system can; else as Renames
  Renames,   ///< the old one steps aside first
};

/// A hidden folder `.tmp-...` beside the one to be. Whoever dies while filling it leaves garbage
/// that the next one made in the same place removes; a lock tells the dead from the living.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::filesystem::path& parent);
  ~TemporaryFolder();  ///< removes what was not published
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Renames it to `folder`, of the same parent. A folder of that name goes away, or stays as
  /// previous_of(folder) if `keep_previous`. At every instant `folder` is complete, or absent with
  /// previous_of(folder) complete.
  void publish(const std::filesystem::path& folder, bool keep_previous, Swap swap = Swap::Exchange);

 private:
  bool lock();
  void replace(const std::filesystem::path& folder, Swap swap);
  void keep_as(const std::filesystem::path& previous);

  std::filesystem::path path_;
  int lock_ = -1;
};

/// Removes a folder so that no half of it is ever seen under its name.
void discard_folder(const std::filesystem::path& folder);

/// Where the folder that `folder` replaced is kept: ".last.previous" for "last".
std::filesystem::path previous_of(const std::filesystem::path& folder);

}  // namespace ubique::engine
