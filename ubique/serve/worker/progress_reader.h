// SPDX-License-Identifier: Apache-2.0
// Reads a command's log while it grows: the last progress, and at the end why it failed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "ubique/serve/queue/job.h"

namespace ubique::serve {

/// A line of the log as progress; nothing for any other line.
std::optional<Progress> progress_of(std::string_view line);

class ProgressReader {
 public:
  /// Begins at byte `from`.
  ProgressReader(std::filesystem::path log, std::int64_t from) : log_(std::move(log)), at_(from) {}
  /// What was written since the last call; the newest progress of it.
  std::optional<Progress> read();
  /// "[room.verb] ..." of the last error, or the last line.
  const std::string& last_error() const { return error_.empty() ? last_line_ : error_; }

 private:
  std::filesystem::path log_;
  std::int64_t at_;
  std::string rest_, error_, last_line_;
};

/// The log for people: without the lines of progress. Reads up to `most` bytes from `from`.
struct LogPart {
  std::string text;
  std::int64_t next = 0;
};
LogPart read_log(const std::filesystem::path& log, std::int64_t from, std::int64_t most);

/// Resident memory of a process, where the system tells.
std::optional<std::int64_t> memory_of_process(std::int64_t id);

}  // namespace ubique::serve
