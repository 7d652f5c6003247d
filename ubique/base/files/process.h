// SPDX-License-Identifier: Apache-2.0
// Runs other programs: to completion, or connected to us by a pipe.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ubique {

/// Runs a program (searched on PATH) with its output discarded and returns its exit code, 128 + N
/// if signal N killed it; nullopt if there is no such program.
std::optional<int> run_program(const std::vector<std::string>& arguments);

/// The path of a program on PATH; nullopt if it is not there.
std::optional<std::filesystem::path> find_program(const std::string& name);

enum class PipeEnd { Read, Write };  ///< what we do at our end of the pipe

/// A program that we read from or write to. It has its own process group: Ctrl-C does not reach it
/// directly, so that a file it writes can still be completed.
class PipedProgram {
 public:
  /// Input error if it cannot be started.
  PipedProgram(const std::vector<std::string>& arguments, PipeEnd end);
  ~PipedProgram();  ///< terminates it, unless finish() was called
  PipedProgram(const PipedProgram&) = delete;
  PipedProgram& operator=(const PipedProgram&) = delete;

  int descriptor() const { return descriptor_; }  ///< of our end of the pipe
  const std::string& name() const { return name_; }
  /// Closes the pipe, waits, and returns the exit code as run_program does.
  int finish();
  /// The last 600 bytes that it wrote to stderr, on one line.
  std::string stderr_tail() const;

 private:
  void close_pipe() noexcept;

  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string name_;
  std::unique_ptr<std::FILE, CloseFile> stderr_file_;  // an unnamed temporary file
  int descriptor_ = -1;
  pid_t child_ = -1;
};

}  // namespace ubique
