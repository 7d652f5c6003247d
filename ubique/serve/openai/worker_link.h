// SPDX-License-Identifier: Apache-2.0
// A child process that speaks JSON lines: we write to its standard input and read its standard
// output; its standard error goes to a file. It ends when its input does, so it never outlives us.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace ubique::serve {

struct LinkPlan {
  std::vector<std::string> words;  ///< the program's path and its arguments
  std::filesystem::path log;       ///< for its standard error
};

class WorkerLink {
 public:
  /// `line` receives what it writes; `ended` is called once, last, with how it ended ("exit code
  /// 3", "signal 9"). Both on a thread of this class. Input error if it cannot be started.
  WorkerLink(const LinkPlan& plan, std::function<void(std::string)> line,
             std::function<void(std::string)> ended);
  /// Closes its input, waits some seconds, then kills it.
  ~WorkerLink();
  WorkerLink(const WorkerLink&) = delete;
  WorkerLink& operator=(const WorkerLink&) = delete;

  bool send(const std::string& line);  ///< false: it is gone
  pid_t id() const { return child_; }

 private:
  void start(const LinkPlan& plan);
  void read();
  std::string wait_for_end();

  std::function<void(std::string)> line_, ended_;
  std::mutex writing_;
  int to_ = -1, from_ = -1;
  pid_t child_ = -1;
  std::thread reader_;
};

/// The last lines of a log, for an error message.
std::string log_tail(const std::filesystem::path& log);

}  // namespace ubique::serve
