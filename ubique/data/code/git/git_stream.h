// SPDX-License-Identifier: Apache-2.0
// The git program as a child process, without a shell: short answers, and long output read line by
// line with bounded memory.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/files/process.h"

namespace ubique::data {

/// The command line of git for a repository, with the person's settings that change its output
/// overridden. Input error if there is no git program.
std::vector<std::string> git_command(const std::filesystem::path& repository,
                                     const std::vector<std::string>& arguments);

struct GitAnswer {
  int code = 0;
  std::string text;   ///< what it wrote, without the last line end
  std::string error;  ///< the end of what it wrote to stderr
};

/// Runs git to its end. Input error for more than 64 MiB of output.
GitAnswer ask_git(const std::filesystem::path& repository,
                  const std::vector<std::string>& arguments);

/// The output of a running git.
class GitStream {
 public:
  GitStream(const std::filesystem::path& repository, const std::vector<std::string>& arguments);

  /// The next byte without taking it; -1 at the end.
  int peek();
  void skip_byte() { ++at_; }
  /// Everything up to `end`, which is taken too; false at the end of the output. The text is valid
  /// until the next call. Of a longer one than `most` bytes the rest is dropped.
  bool read_until(char end, std::string_view& text, std::size_t most);
  bool line(std::string_view& text, std::size_t most) { return read_until('\n', text, most); }
  bool cut() const { return cut_; }  ///< whether the last text was longer than `most`
  /// Waits for git. Input error with its own words if it failed.
  void finish();

 private:
  bool fill();

  PipedProgram program_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;
  std::string long_;  // a text that crosses the buffer
  bool cut_ = false;
};

}  // namespace ubique::data
