// SPDX-License-Identifier: Apache-2.0
// Some drivers abort the process instead of throwing (Metal does for a few shapes). A probe cannot
// survive that, but it can leave a note, so that the next run reports the probe as failed and goes
// on.
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>

namespace ubique::probe {

/// While one lives, a fatal signal appends the id of the probe under way to the note file. At most
/// one lives at a time; an empty path makes it do nothing.
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
