// SPDX-License-Identifier: Apache-2.0
// One process at a time trains into a run folder.
#pragma once

#include <filesystem>

namespace ubique::engine {

/// Makes the folder and holds FOLDER/.lock as long as it lives. The system lets go of it when the
/// process ends, however it does; the file stays behind and means nothing.
class RunLock {
 public:
  /// Usage error that names the process that holds it.
  explicit RunLock(const std::filesystem::path& folder);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  void note_owner() const;

  int descriptor_ = -1;
};

}  // namespace ubique::engine
