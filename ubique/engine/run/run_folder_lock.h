// SPDX-License-Identifier: Apache-2.0
// The lock that lets only one process at a time train into a run folder.
#pragma once

#include <filesystem>

namespace ubique::engine {

/// Creates the folder and holds a lock on FOLDER/.lock for its lifetime. The system releases the
/// lock when the process ends, also by a kill; the file that remains has no meaning.
class RunLock {
 public:
  /// Usage error that names the process that holds it. A run that its launcher starts again waits
  /// for it a while.
  explicit RunLock(const std::filesystem::path& folder);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  void note_owner() const;
  void refuse(const std::filesystem::path& folder);  ///< unless the system knows no locks there

  int descriptor_ = -1;
};

}  // namespace ubique::engine
