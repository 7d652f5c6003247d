// SPDX-License-Identifier: Apache-2.0
// The variables of each launcher.
#include "ubique/dist/place.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"

namespace ubique::dist {
namespace {

constexpr int kMostProcesses = 1 << 20;
constexpr int kDefaultPort = 29500;  // torchrun's
constexpr int kFirstJobPort = 20000, kJobPorts = 10000;

/// The names under which a launcher gives the same four numbers.
struct Names {
  const char* launcher;
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
};

// SLURM sets its variables in an interactive shell too, where nothing was launched: only srun sets
// SLURM_STEP_NUM_TASKS to the number of processes that it starts.
constexpr std::array kLaunchers = {
    Names{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    Names{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
          "OMPI_COMM_WORLD_LOCAL_SIZE"},
    Names{"SLURM", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID",
          "SLURM_STEP_TASKS_PER_NODE"},
    Names{"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
};

std::optional<int> number(const Environment& environment, const std::string& name, int least) {
  const auto text = environment(name);
  if (!text || text->empty()) return std::nullopt;
  const auto value = parse_number(*text);
  check(value && *value >= least && *value < kMostProcesses && *value == static_cast<int>(*value),
        ErrorKind::Usage, "[dist.place] {} is not a number of processes; got '{}', expected {}.",
        name, *text, least == 0 ? "0 or more" : "1 or more");
  return static_cast<int>(*value);
}

/// "2(x3),1" and "2": the first node's count. Only a hint for threads, so never an error.
int tasks_on_node(const Environment& environment, const char* name, int otherwise) {
  const auto text = environment(name);
  const int count = text ? std::atoi(text->c_str()) : 0;
  return count > 0 ? count : otherwise;
}

void read_meeting_point(const Environment& environment, Place& place) {
  place.host = environment("MASTER_ADDR").value_or("");
  if (place.host.empty()) {
    const auto hosts = environment("SLURM_STEP_NODELIST");
    if (place.launcher == "SLURM" && hosts) place.host = first_host(*hosts);
    if (place.size == place.local_size) place.host = "127.0.0.1";
  }
  check(!place.host.empty(), ErrorKind::Usage,
        "[dist.place] {} started {} processes on several machines; got no MASTER_ADDR, expected "
        "the name of the machine of rank 0. Write MASTER_ADDR=HOST MASTER_PORT=PORT before the "
        "command.",
        place.launcher, place.size);
  constexpr int kLastPort = 65535;
  // Jobs of one machine must not meet at the same port.
  const auto job = parse_number(environment("SLURM_JOB_ID").value_or(""));
  const int usual =
      job ? kFirstJobPort + static_cast<int>(std::fmod(std::abs(*job), kJobPorts)) : kDefaultPort;
  place.port = number(environment, "MASTER_PORT", 1).value_or(usual);
  check(place.port <= kLastPort, ErrorKind::Usage,
        "[dist.place] MASTER_PORT is not a port; got {}, expected at most {}.", place.port,
        kLastPort);
}

}  // namespace

Place read_place(const Environment& environment) {
  Place place;
  for (const auto& names : kLaunchers) {
    const auto size = number(environment, names.size, 1);
    if (!size) continue;
    const auto rank = number(environment, names.rank, 0);
    check(rank.has_value() || *size == 1, ErrorKind::Usage,
          "[dist.place] {} is set without {}; got {} processes, expected the number of this one. "
          "Start with torchrun, srun, mpirun or `ubique launch`.",
          names.size, names.rank, *size);
    place.launcher = environment("UBIQUE_LAUNCHED") ? "ubique launch" : names.launcher;
    place.size = *size;
    place.rank = rank.value_or(0);
    place.local_rank = number(environment, names.local_rank, 0).value_or(0);
    place.local_size = tasks_on_node(environment, names.local_size, place.local_rank + 1);
    check(place.rank < place.size, ErrorKind::Usage,
          "[dist.place] {} is too large; got {} of {} processes, expected at most {}.", names.rank,
          place.rank, place.size, place.size - 1);
    break;
  }
  if (place.size == 1) {
    const auto local = number(environment, "LOCAL_RANK", 0).value_or(0);
    check(local == 0 || !place.launcher.empty(), ErrorKind::Usage,
          "[dist.place] LOCAL_RANK is set without WORLD_SIZE; got LOCAL_RANK={}, expected RANK and "
          "WORLD_SIZE too. Start with torchrun, srun, mpirun or `ubique launch`.",
          local);
    return place;
  }
  place.launcher_listens = environment("TORCHELASTIC_USE_AGENT_STORE") == "True";
  place.attempt = environment("TORCHELASTIC_RESTART_COUNT").value_or("0");
  read_meeting_point(environment, place);
  return place;
}

std::optional<std::string> process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

std::string first_host(const std::string& list) {
  const auto bracket = list.find('['), comma = list.find(',');
  if (bracket == std::string::npos || (comma != std::string::npos && comma < bracket)) {
    return list.substr(0, comma);
  }
  const auto end = list.find_first_of("-,]", bracket);
  if (end == std::string::npos) return list.substr(0, bracket);
  const auto close = list.find(']', bracket);
  const auto rest = close == std::string::npos ? std::string() : list.substr(close + 1);
  return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1) +
         rest.substr(0, rest.find(','));
}

std::optional<std::string> own_address_towards(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;  // to connect such a socket sends nothing
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), "9", &hints, &found) != 0) return std::nullopt;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> targets(found, ::freeaddrinfo);
  const int socket = ::socket(targets->ai_family, SOCK_DGRAM, 0);
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  auto* general = reinterpret_cast<sockaddr*>(&address);
  char text[NI_MAXHOST] = "";
  const bool known =
      socket >= 0 && ::connect(socket, targets->ai_addr, targets->ai_addrlen) == 0 &&
      ::getsockname(socket, general, &length) == 0 &&
      ::getnameinfo(general, length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0;
  if (socket >= 0) ::close(socket);
  const std::string own = text;
  if (!known || own.starts_with("127.") || own == "::1") return std::nullopt;
  return own;
}

int free_port() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* general = reinterpret_cast<sockaddr*>(&address);
  const bool bound = listener >= 0 && ::bind(listener, general, length) == 0 &&
                     ::getsockname(listener, general, &length) == 0;
  if (listener >= 0) ::close(listener);
  check(bound, ErrorKind::Device, "[dist.port] no TCP port is free on this machine.");
  return ntohs(address.sin_port);
}

}  // namespace ubique::dist
