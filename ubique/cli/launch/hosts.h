// SPDX-License-Identifier: Apache-2.0
// The machines of `ubique launch --hosts`: which of them answer, and the command lines that they
// get by ssh (or by another program that takes a host and a command line).
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace ubique::cli {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// For `sh`: in the folder, with these variables, the words as a program. The other end of its
/// standard input becomes the pipe of UBIQUE_PARENT (cli/parent.h).
std::string shell_line(const std::filesystem::path& folder, const Variables& variables,
                       const std::vector<std::string>& words);

/// Variables of this process that concern a training: UBIQUE_*, GLOO_* and a few others; no tokens.
Variables variables_for_hosts();

/// "ann@node1" gives "node1".
std::string address_of(const std::string& host);

struct HostAnswer {
  std::string host;
  bool ready = false;           ///< starts commands, and has the folder and the program
  bool has_checkpoint = false;  ///< sees one of this run
  std::string why = {};         ///< it is not ready
};

/// What is asked of a host.
struct HostQuestion {
  std::vector<std::string> shell;     ///< words before HOST and COMMAND
  std::filesystem::path folder;       ///< in which the processes work
  std::filesystem::path checkpoints;  ///< of the run, as seen from that folder
  std::string program;
};

/// Asks all hosts at once; one that is silent for 20 seconds is not ready.
std::vector<HostAnswer> ask_hosts(const std::vector<std::string>& hosts,
                                  const HostQuestion& question);

/// The hosts of a first start. Usage error for a list that cannot be, Device error that names those
/// which are not ready.
std::vector<std::string> all_hosts(const std::vector<std::string>& hosts,
                                   const HostQuestion& question);

/// The hosts of another start, the one of rank 0 first: all, or after `seconds` those that are
/// ready. Rank 0 stays where it was, else goes to a host that sees a checkpoint. None: interrupted.
/// Device error if no host can go on.
std::vector<std::string> hosts_for_restart(const std::vector<std::string>& hosts,
                                           const HostQuestion& question, const std::string& leader,
                                           double seconds);

}  // namespace ubique::cli
