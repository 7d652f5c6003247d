// SPDX-License-Identifier: Apache-2.0
// Other programs: started and waited for, or at the other end of a pipe.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ubique {

/// Runs a program (looked for on PATH) with its output thrown away and gives its exit code, 128 + N
/// if signal N ended it; nothing if there is no such program.
std::optional<int> run_program(const std::vector<std::string>& arguments);

/// Where PATH finds a program; nothing if it does not.
std::optional<std::filesystem::path> find_program(const std::string& name);

enum class PipeEnd { FromIt, ToIt };

/// A program that we read from or write to. It is in a process group of its own: Ctrl-C reaches it
/// through us alone, so that a file it writes can be brought to its end.
class PipedProgram {
 public:
  /// Input error if it cannot be started.
  PipedProgram(const std::vector<std::string>& arguments, PipeEnd end);
  ~PipedProgram();  ///< ends it, unless finish() has
  PipedProgram(const PipedProgram&) = delete;
  PipedProgram& operator=(const PipedProgram&) = delete;

  int descriptor() const { return descriptor_; }  ///< of our end of the pipe
  const std::string& name() const { return name_; }
  /// Closes the pipe, waits, and gives the exit code as run_program does.
  int finish();
  /// The end of what it wrote to stderr, on one line.
  std::string last_words() const;

 private:
  void close_pipe() noexcept;

  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string name_;
  std::unique_ptr<std::FILE, CloseFile> complaints_;  // its stderr, in a file without a name
  int descriptor_ = -1;
  pid_t child_ = -1;
};

}  // namespace ubique
