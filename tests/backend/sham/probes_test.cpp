// SPDX-License-Identifier: Apache-2.0
// The probes notice every op that computes wrongly, of all that the families call.
#include <doctest/doctest.h>

#include <algorithm>

#include "device.h"
#include "tests/probe/mutations/family_ops.h"
#include "ubique/probe/suite.h"

using namespace ubique;
using namespace ubique::test;

namespace {

/// In f32, where a result that is 6 % off is far beyond rounding; the small ops first, which most
/// faults are found by; nothing that takes long.
std::vector<probe::Probe> quick_probes() {
  auto probes = probe::all_probes();
  std::erase_if(probes, [](const probe::Probe& probe) {
    const bool is_long = probe.work > 1e7 || probe.id().find("1024") != std::string::npos;
    return probe.dtype != DType::F32 || is_long || probe.op == "conv1d.long";
  });
  std::stable_partition(probes.begin(), probes.end(), [](const probe::Probe& probe) {
    return probe.op.starts_with("elementary.") || probe.op == "image";
  });
  return probes;
}

/// Does a probe fail on the device as it is now?
bool is_noticed(const device::Facts& facts, const std::vector<probe::Probe>& probes) {
  probe::RunOptions options;
  options.timing = false;
  return std::any_of(probes.begin(), probes.end(), [&](const probe::Probe& probe) {
    const auto report = probe::run_probes(facts, sham_device(), {probe}, options);
    return report.verdicts.front().outcome == probe::Outcome::Fail;
  });
}

}  // namespace

TEST_CASE("sham probes: each op that a family calls is noticed if it is wrong") {
  sham_device();
  device::Facts facts;
  facts.backend = UBIQUE_TESTED_BACKEND;
  facts.kind = device::Kind::Mps;
  facts.pretend = true;
  const auto probes = quick_probes();
  CHECK_FALSE(is_noticed(facts, probes));
  for (const auto& op : kProbedOps) {
    CAPTURE(op);
    const Told told("wrong=op:aten::" + op);
    CHECK(is_noticed(facts, probes));
  }
}
