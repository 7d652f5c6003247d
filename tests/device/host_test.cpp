// SPDX-License-Identifier: Apache-2.0
// Host facts and container limits, read from a fake cgroup tree.
#include "ubique/device/host.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;
using namespace ubique::device;

namespace {

/// A fake /sys/fs/cgroup.
struct CgroupTree {
  fs::path root = fs::temp_directory_path() / ("ubique-cgroup-" + std::to_string(getpid()));
  CgroupTree() { fs::create_directories(root); }
  ~CgroupTree() { fs::remove_all(root); }
  void put(const std::string& file, const std::string& text) const {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text << "\n";
  }
};

}  // namespace

TEST_CASE("host: the machine that runs this has cores, memory and a name") {
  CHECK(host().cores >= 1);
  CHECK(host().memory_total > (1 << 20));
  CHECK(host().memory_available <= host().memory_total);
  CHECK_FALSE(host().cpu_name.empty());
  CHECK_FALSE(host().os_version.empty());
  CHECK(torch_version().starts_with("2."));
}

TEST_CASE("host: cgroup v2 limits of memory and cores are read") {
  const CgroupTree tree;
  tree.put("cgroup.controllers", "cpu memory");
  tree.put("memory.max", "2147483648");
  tree.put("memory.current", "1048576");
  tree.put("cpu.max", "150000 100000");
  const auto limits = read_container_limits(tree.root, "");
  CHECK(limits.memory_limit == 2147483648);
  CHECK(limits.memory_used == 1048576);
  CHECK(limits.cores == doctest::Approx(1.5));
}

TEST_CASE("host: in nested groups the tightest limit counts") {
  const CgroupTree tree;
  tree.put("cgroup.controllers", "cpu memory");
  tree.put("pod/memory.max", "1000000");
  tree.put("pod/job/memory.max", "max");
  tree.put("pod/job/cpu.max", "max 100000");
  const auto limits = read_container_limits(tree.root, "0::/pod/job\n");
  CHECK(limits.memory_limit == 1000000);
  CHECK(limits.cores == 0);
}

TEST_CASE("host: cgroup v1 limits are read, and its near-2^63 'none' is none") {
  const CgroupTree tree;
  tree.put("memory/memory.limit_in_bytes", "4294967296");
  tree.put("cpu/cpu.cfs_quota_us", "200000");
  tree.put("cpu/cpu.cfs_period_us", "100000");
  auto limits = read_container_limits(tree.root, "");
  CHECK(limits.memory_limit == 4294967296);
  CHECK(limits.cores == doctest::Approx(2));
  tree.put("memory/memory.limit_in_bytes", "9223372036854771712");
  tree.put("cpu/cpu.cfs_quota_us", "-1");
  limits = read_container_limits(tree.root, "");
  CHECK(limits.memory_limit == 0);
  CHECK(limits.cores == 0);
}

TEST_CASE("host: in nested groups of cgroup v1 the tightest limit counts") {
  const CgroupTree tree;
  tree.put("memory/memory.limit_in_bytes", "9223372036854771712");
  tree.put("memory/pod/memory.limit_in_bytes", "314572800");
  tree.put("memory/pod/memory.usage_in_bytes", "1048576");
  tree.put("memory/pod/job/memory.limit_in_bytes", "4294967296");
  tree.put("memory/pod/other/memory.limit_in_bytes", "1000");
  tree.put("cpu/pod/cpu.cfs_quota_us", "50000");
  tree.put("cpu/pod/cpu.cfs_period_us", "100000");
  const std::string groups = "9:memory:/pod/job\n4:cpu,cpuacct:/pod\n1:name=systemd:/x\n0::/\n";
  const auto limits = read_container_limits(tree.root, groups);
  CHECK(limits.memory_limit == 314572800);
  CHECK(limits.memory_used == 1048576);
  CHECK(limits.cores == doctest::Approx(0.5));
}

TEST_CASE("host: a group that is not visible here leaves the limits of the root") {
  const CgroupTree tree;
  tree.put("memory/memory.limit_in_bytes", "1000000");
  for (const std::string group : {"/docker/0123", "/../elsewhere", "", "/"}) {
    CHECK(read_container_limits(tree.root, "9:memory:" + group + "\n").memory_limit == 1000000);
  }
  CHECK(read_container_limits(tree.root, "not such a text").memory_limit == 1000000);
  tree.put("unified/pod/memory.max", "2000");
  CHECK(read_container_limits(tree.root, "9:memory:/\n0::/pod\n").memory_limit == 2000);
}

TEST_CASE("host: a machine without cgroups has no limits") {
  const auto limits = read_container_limits("/nonexistent", "0::/a/b\n");
  CHECK(limits.memory_limit == 0);
  CHECK(limits.cores == 0);
}

TEST_CASE("host: meminfo fields are bytes") {
  const std::string text = "MemTotal:       16384 kB\nMemAvailable:    8192 kB\n";
  CHECK(meminfo_field(text, "MemTotal") == 16384 * 1024);
  CHECK(meminfo_field(text, "MemAvailable") == 8192 * 1024);
  CHECK_FALSE(meminfo_field(text, "SwapFree").has_value());
}
