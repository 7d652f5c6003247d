// SPDX-License-Identifier: Apache-2.0
// Reads /proc, /sys/fs/cgroup and os-release on Linux, sysctl on macOS.
#include "ubique/device/host.h"

#include <sched.h>
#include <sys/utsname.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>

#include "ubique/base/text/text.h"
#include "ubique/device/cpu/amx.h"

#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

namespace ubique::device {
namespace {

std::string slurp(const std::filesystem::path& path) {  // kernel files report no size
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::int64_t number_in(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::int64_t value = 0;
  in >> value;  // "max" leaves 0: no limit
  return in ? value : 0;
}

/// Text after "name<separators>:" in /proc/cpuinfo and os-release style files.
std::string field_of(const std::string& text, const std::string& name, char separator) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find(separator);
    if (at == std::string::npos || trim(line.substr(0, at)) != name) continue;
    std::string value(trim(line.substr(at + 1)));
    std::erase(value, '"');
    return value;
  }
  return {};
}

/// The folders from a group up to its controller's root. A container may see only the root: the
/// path of its own group is then one of the host, whose folders do not exist here and set no limit.
std::vector<std::filesystem::path> folders_upward(const std::filesystem::path& root,
                                                  const std::string& group) {
  std::vector<std::filesystem::path> folders = {root};
  for (const auto& part : split(group, '/')) {
    if (part == "..") return {root};  // outside of what this process can see
    folders.push_back(folders.back() / part);
  }
  return {folders.rbegin(), folders.rend()};
}

/// Keeps the tighter limit, with the use of the group that sets it.
void tighten_memory(const std::filesystem::path& folder, const char* limit, const char* used,
                    ContainerLimits& limits) {
  constexpr std::int64_t kUnlimited = std::int64_t{1} << 60;  // v1's "none" is near 2^63
  const auto memory = number_in(folder / limit);
  if (memory <= 0 || memory >= kUnlimited) return;
  if (limits.memory_limit > 0 && memory >= limits.memory_limit) return;
  limits.memory_limit = memory;
  limits.memory_used = number_in(folder / used);
}

void tighten_cores(double quota, double period, ContainerLimits& limits) {
  if (!(quota > 0 && period > 0)) return;
  const double cores = quota / period;
  limits.cores = limits.cores == 0 ? cores : std::min(limits.cores, cores);
}

void read_cgroup_v2(const std::filesystem::path& root, const std::string& group,
                    ContainerLimits& limits) {
  for (const auto& folder : folders_upward(root, group)) {
    tighten_memory(folder, "memory.max", "memory.current", limits);
    std::istringstream cpu(slurp(folder / "cpu.max"));
    double quota = 0, period = 0;
    if (cpu >> quota >> period) tighten_cores(quota, period, limits);
  }
}

void read_cgroup_v1(const std::filesystem::path& root, const std::string& controller,
                    const std::string& group, ContainerLimits& limits) {
  for (const auto& folder : folders_upward(root / controller, group)) {
    if (controller == "memory") {
      tighten_memory(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", limits);
    } else if (controller == "cpu") {
      tighten_cores(static_cast<double>(number_in(folder / "cpu.cfs_quota_us")),
                    static_cast<double>(number_in(folder / "cpu.cfs_period_us")), limits);
    }
  }
}

/// The group of a controller, from lines like "9:memory:/a/b" and "4:cpu,cpuacct:/a"; v2's line
/// "0::/a/b" has the empty controller.
std::string group_of(const std::string& groups, const std::string& controller) {
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const auto names = line.substr(first + 1, second - first - 1);
    const auto list = split(names, ',');
    const bool named = std::find(list.begin(), list.end(), controller) != list.end();
    if (controller.empty() ? names.empty() : named) return line.substr(second + 1);
  }
  return {};
}

#ifdef __APPLE__

std::string sysctl_text(const char* name) {
  char buffer[256] = {};
  std::size_t size = sizeof buffer - 1;
  return sysctlbyname(name, buffer, &size, nullptr, 0) == 0 ? std::string(buffer) : std::string();
}

std::int64_t sysctl_number(const char* name) {
  std::int64_t value = 0;
  std::size_t size = sizeof value;
  return sysctlbyname(name, &value, &size, nullptr, 0) == 0 ? value : 0;
}

void describe_system(Host& host) {
  host.os_version = "macOS " + sysctl_text("kern.osproductversion");
  host.cpu_name = sysctl_text("machdep.cpu.brand_string");
  host.memory_total = sysctl_number("hw.memsize");
  host.memory_available = host.memory_total;
  if (host.architecture == "arm64") host.instruction_sets = {"neon"};
}

#else

void describe_system(Host& host) {
  host.os_version = field_of(slurp("/etc/os-release"), "PRETTY_NAME", '=');
  const auto cpu = slurp("/proc/cpuinfo");
  host.cpu_name = field_of(cpu, "model name", ':');
  if (host.cpu_name.empty()) host.cpu_name = host.architecture + " CPU";
  const auto flags =
      split(field_of(cpu, host.architecture == "arm64" ? "Features" : "flags", ':'), ' ');
  const auto has = [&](const char* flag) {
    return std::find(flags.begin(), flags.end(), flag) != flags.end();
  };
  // The kernel's name, our name.
  constexpr const char* kSets[][2] = {
      {"avx2", "avx2"},
      {"avx512f", "avx512"},
      {"avx512_bf16", "avx512_bf16"},
      {"amx_bf16", "amx"},
      {"avx512_fp16", "avx512_fp16"},
      {"asimd", "neon"},
      {"bf16", "arm_bf16"},
      {"sve", "sve"},
      {"fphp", "arm_fp16"},
  };
  for (const auto& set : kSets) {
    if (has(set[0])) host.instruction_sets.emplace_back(set[1]);
  }
  if (!is_usable(read_amx_report())) std::erase(host.instruction_sets, "amx");
  const auto memory = slurp("/proc/meminfo");
  host.memory_total = meminfo_field(memory, "MemTotal").value_or(0);
  host.memory_available = meminfo_field(memory, "MemAvailable").value_or(host.memory_total);
}

#endif

void count_cores(Host& host, double container_cores) {
  host.cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#ifdef __linux__
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) < host.cores) {
    host.cores = CPU_COUNT(&allowed);
    host.cores_reason = "CPU affinity";
  }
#endif
  const int quota = static_cast<int>(std::ceil(container_cores));
  if (quota > 0 && quota < host.cores) {
    host.cores = quota;
    host.cores_reason = "cgroup CPU quota";
  }
}

Host look_at_host() {
  Host host;
  utsname names{};
  uname(&names);
  host.platform = names.sysname;
  const std::string machine = names.machine;
  host.architecture = machine == "x86_64"                          ? "x86-64"
                      : machine == "aarch64" || machine == "arm64" ? "arm64"
                                                                   : machine;
  describe_system(host);
  const auto limits = read_container_limits("/sys/fs/cgroup", slurp("/proc/self/cgroup"));
  if (limits.memory_limit > 0 && limits.memory_limit < host.memory_total) {
    host.container_limit = limits.memory_limit;
    host.container_used = limits.memory_used;
  }
  count_cores(host, limits.cores);
  return host;
}

}  // namespace

const Host& host() {
  static const Host kHost = look_at_host();
  return kHost;
}

std::string torch_version() { return TORCH_VERSION; }

ContainerLimits read_container_limits(const std::filesystem::path& root,
                                      const std::string& groups) {
  ContainerLimits limits;
  std::error_code ignored;
  if (std::filesystem::exists(root / "cgroup.controllers", ignored)) {
    read_cgroup_v2(root, group_of(groups, ""), limits);
    return limits;
  }
  for (const auto* controller : {"memory", "cpu"}) {
    read_cgroup_v1(root, controller, group_of(groups, controller), limits);
  }
  read_cgroup_v2(root / "unified", group_of(groups, ""), limits);  // beside v1 on some systems
  return limits;
}

std::optional<std::int64_t> meminfo_field(const std::string& text, const std::string& field) {
  std::istringstream value(field_of(text, field, ':'));
  std::int64_t kibibytes = 0;
  if (!(value >> kibibytes)) return std::nullopt;
  return kibibytes * 1024;
}

}  // namespace ubique::device
