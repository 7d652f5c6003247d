// SPDX-License-Identifier: Apache-2.0
// The place of this process among those of one run, as its launcher says in the environment:
// `ubique launch`, torchrun, SLURM, Open MPI, or an MPI with PMI.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace ubique::dist {

struct Place {
  int rank = 0, size = 1;              ///< of all processes of the run
  int local_rank = 0, local_size = 1;  ///< of those on this machine
  std::string host;                    ///< where rank 0 listens
  int port = 0;
  /// The launcher itself listens there, not rank 0.
  bool launcher_listens = false;
  std::string attempt = "0";  ///< differs when the launcher starts the same run again
  std::string launcher;       ///< "torchrun", "SLURM", ...; empty: started alone
};

using Environment = std::function<std::optional<std::string>(const std::string&)>;

/// Usage error for variables that contradict each other or are incomplete. LOCAL_RANK=0 alone is a
/// run of one process.
Place read_place(const Environment& environment);

/// Of this process.
std::optional<std::string> process_environment(const std::string& name);

/// The first host of a SLURM list: "node[07-12,20],gpu3" gives "node07".
std::string first_host(const std::string& list);

/// This machine's address in the network that leads to a host; nothing if that is the loopback or
/// unknown.
std::optional<std::string> own_address_towards(const std::string& host);

/// A TCP port that nobody listens on at the moment.
int free_port();

}  // namespace ubique::dist
