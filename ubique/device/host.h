// SPDX-License-Identifier: Apache-2.0
// This machine as the operating system reports it: memory, cores, instruction sets, versions.
// Container limits (cgroup v1 and v2) are taken into account.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ubique::device {

struct Host {
  std::string platform;      ///< "Linux", "Darwin"
  std::string os_version;    ///< "Debian GNU/Linux 12 (bookworm)", "macOS 26.3"
  std::string architecture;  ///< "x86-64", "arm64"
  std::string cpu_name;
  int cores = 1;             ///< that this process may use
  std::string cores_reason;  ///< "cgroup CPU quota", "CPU affinity" or empty
  std::int64_t memory_total = 0;
  std::int64_t memory_available = 0;
  std::int64_t container_limit = 0;  ///< 0 = none
  std::int64_t container_used = 0;
  std::vector<std::string> instruction_sets;
};

const Host& host();           ///< queried once per process
std::string torch_version();  ///< of the LibTorch this was built with

/// Limits that a container sets, read from a cgroup tree (v2: memory.max, cpu.max; v1: the memory
/// and cpu controllers' folders), from this process's own groups up to the root: the tightest
/// counts. `root` is /sys/fs/cgroup, `groups` the text of /proc/self/cgroup.
struct ContainerLimits {
  std::int64_t memory_limit = 0;  ///< 0 = none
  std::int64_t memory_used = 0;
  double cores = 0;  ///< 0 = none
};
ContainerLimits read_container_limits(const std::filesystem::path& root, const std::string& groups);

/// The value of one field of /proc/meminfo, in bytes.
std::optional<std::int64_t> meminfo_field(const std::string& text, const std::string& field);

}  // namespace ubique::device
