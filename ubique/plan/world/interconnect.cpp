// SPDX-License-Identifier: Apache-2.0
// The list, each figure with its source.
#include "ubique/plan/world/interconnect.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"

namespace ubique::plan {
namespace {

// Two processes of one machine add up rows of 16.8 million numbers (dist::BackgroundSum), and of
// 250, where a message's way there is all that counts: `bench/dist/plan` prints both.
constexpr double kGlooRate = 0.33;    // GB/s
constexpr double kGlooLatency = 400;  // us
constexpr const char* kGlooSource =
    "measured: sums of gradients through Gloo between two processes of one two-core machine "
    "(bench/dist/plan)";

constexpr const char* kLineRate = "line rate; latency of TCP through a switch is an assumption";
constexpr const char* kInfiniBand = "line rate of four lanes; latency from NVIDIA's data sheets";
constexpr const char* kPcie = "rate of 16 lanes; latency is an assumption";

}  // namespace

const std::vector<Interconnect>& interconnects() {
  static const std::vector<Interconnect> all = {
      {"loopback", "processes of one machine", kGlooRate, kGlooLatency, kGlooSource, true},
      {"1gbe", "Ethernet, 1 Gbit/s", 0.125, 50, kLineRate},
      {"10gbe", "Ethernet, 10 Gbit/s", 1.25, 50, kLineRate},
      {"25gbe", "Ethernet, 25 Gbit/s", 3.125, 30, kLineRate},
      {"100gbe", "Ethernet, 100 Gbit/s", 12.5, 30, kLineRate},
      {"ib100", "InfiniBand EDR", 12.5, 2, kInfiniBand},
      {"ib200", "InfiniBand HDR", 25, 2, kInfiniBand},
      {"ib400", "InfiniBand NDR", 50, 2, kInfiniBand},
      {"pcie4", "PCI Express 4.0 x16", 31.5, 5, kPcie},
      {"pcie5", "PCI Express 5.0 x16", 63, 5, kPcie},
      {"nvlink", "NVLink 4 of H100 and H200", 450, 2,
       "NVIDIA H200 datasheet: 900 GB/s in both directions; latency is an assumption"},
  };
  return all;
}

const Interconnect& find_interconnect(const std::string& id) {
  const auto& all = interconnects();
  const auto found = std::ranges::find(all, id, &Interconnect::id);
  if (found != all.end()) return *found;
  std::vector<std::string> ids;
  for (const auto& known : all) ids.push_back(known.id);
  fail(ErrorKind::Usage, "[plan.world] unknown interconnect; got '{}', expected one of: {}.{}", id,
       join(ids, ", "), hint(id, ids));
}

Interconnect through(const Interconnect& wire, const std::string& library) {
  if (library != "gloo") return wire;
  auto got = wire;
  got.gbytes_per_second = std::min(wire.gbytes_per_second, kGlooRate);
  got.latency_us = std::max(wire.latency_us, kGlooLatency);
  if (got.gbytes_per_second < wire.gbytes_per_second) got.source = kGlooSource;
  return got;
}

}  // namespace ubique::plan
