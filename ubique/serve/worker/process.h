// SPDX-License-Identifier: Apache-2.0
// One attempt at a job: the program itself as a child, in a folder of its own, with its output in
// files. It ends when the server does, even if that is killed.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ubique::serve {

/// A pipe that closes when this process ends, however it ends: children hold the other end and
/// watch it (cli/parent.h).
class LifeLine {
 public:
  LifeLine();
  ~LifeLine();
  LifeLine(const LifeLine&) = delete;
  LifeLine& operator=(const LifeLine&) = delete;
  int reading_end() const { return ends_[0]; }

 private:
  int ends_[2] = {-1, -1};
};

struct ProcessPlan {
  std::vector<std::string> words;  ///< the program's path and its arguments
  std::filesystem::path folder;    ///< where it runs
  std::filesystem::path out, log;  ///< its standard output and error, appended
};

/// Files of an attempt's folder.
inline constexpr const char* kOutFile = "stdout.json";
inline constexpr const char* kLogFile = "log.txt";
inline constexpr const char* kAliveFile = "alive";

class WorkerProcess {
 public:
  /// Input error if it cannot be started.
  WorkerProcess(const ProcessPlan& plan, const LifeLine& life);
  ~WorkerProcess();  ///< kills it, if it still runs
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  pid_t id() const { return child_; }
  /// The exit code, 128 + N after signal N; nothing while it runs.
  std::optional<int> ended();
  void signal(int number) const;  ///< to it and its own children

 private:
  void end_now();

  pid_t child_ = -1;
  std::optional<int> code_;
};

/// Ends the process of an attempt that outlived its server, if there is one: its folder's lock says
/// so. Asks first, kills after `seconds`.
void end_orphan(const std::filesystem::path& folder, double seconds);

}  // namespace ubique::serve
