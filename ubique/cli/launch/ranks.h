// SPDX-License-Identifier: Apache-2.0
// The processes of `ubique launch`: this program N times, here or on several hosts, each told its
// place.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ubique::cli {

struct RanksPlan {
  int count = 1;                   ///< processes on each host
  std::vector<std::string> hosts;  ///< that of rank 0 first; none: this machine alone
  std::vector<std::string> shell;  ///< words before HOST and COMMAND
  std::filesystem::path folder;    ///< in which those of hosts work
  std::vector<std::string> words;  ///< the program's path and its arguments
  std::filesystem::path logs;      ///< folder for the output of all ranks but the first
  int port = 0;                    ///< where they meet
  int attempt = 0;                 ///< of a run that is started again

  int size() const { return hosts.empty() ? count : count * static_cast<int>(hosts.size()); }
  /// " on node1"; empty where there is only this machine.
  std::string place_of(int rank) const { return hosts.empty() ? "" : " on " + hosts[rank / count]; }
};

/// How a process ended: the exit code, 128 + N after signal N.
struct RankEnd {
  int rank = 0, code = 0;
};

class Ranks {
 public:
  /// Starts them. Rank 0 has our terminal, the others log into logs/rank-N.log. Input error if they
  /// cannot be started.
  explicit Ranks(const RanksPlan& plan);
  ~Ranks();  ///< kills those that still run
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  /// One that ended since the last call; nothing if none did.
  std::optional<RankEnd> next_end();
  bool all_ended() const;
  void ask_to_stop() const;  ///< those that still run: after the current update
  void kill();               ///< those that still run
  pid_t process(int rank) const { return processes_[rank].id; }

 private:
  struct Process {
    pid_t id = -1;
    bool ended = false;
    int life = -1;  // our end of a pipe, which closes when this process ends (cli/parent.h)
  };
  void start(const RanksPlan& plan, int rank);

  std::vector<Process> processes_;
};

/// The last lines of a log, without those of progress.
std::string last_lines(const std::filesystem::path& log);

}  // namespace ubique::cli
