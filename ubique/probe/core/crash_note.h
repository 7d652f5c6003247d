// SPDX-License-Identifier: Apache-2.0
// Some drivers abort the process instead of throwing (Metal does for a few shapes). A probe cannot
// survive that, but it can leave a note, so that the next run reports it as failed and continues
// with the others.
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>

namespace ubique::probe {

/// While it exists, a fatal signal appends the id of the running probe to the note file. At most
/// one may exist at a time; with an empty path it does nothing.
class CrashNote {
 public:
  explicit CrashNote(const std::filesystem::path& path);
  ~CrashNote();
  CrashNote(const CrashNote&) = delete;
  CrashNote& operator=(const CrashNote&) = delete;

  void begin(const std::string& id);
  void end();

 private:
  struct Handlers;
  std::unique_ptr<Handlers> handlers_;
};

/// Ids in a note file; none if there is no such file.
std::set<std::string> read_crash_note(const std::filesystem::path& path);

}  // namespace ubique::probe
