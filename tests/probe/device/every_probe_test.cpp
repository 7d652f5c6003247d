// SPDX-License-Identifier: Apache-2.0
// The whole suite on a real device: the one that UBIQUE_TEST_DEVICE names (cpu, cuda, mps, sham),
// or the one that auto picks. A program of its own, because a pretend device must be loaded first.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "ubique/base/error.h"
#include "ubique/device/select.h"
#include "ubique/probe/suite.h"

using namespace ubique;

namespace {

std::optional<device::Selection> device_under_test() {
  const char* name = std::getenv("UBIQUE_TEST_DEVICE");
  try {
    return device::select(device::parse_request(name != nullptr ? name : "auto"));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Device) throw;
    std::printf("skipped: %s\n", error.what());
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("device under test: no probe fails, and what is refused says so") {
  const auto selection = device_under_test();
  if (!selection) return;
  std::printf("device under test: %s\n", selection->facts.label().c_str());
  probe::RunOptions options;
  options.timing = false;
  const auto report =
      probe::run_probes(selection->facts, selection->torch_device, probe::all_probes(), options);
  CHECK(report.verdicts.size() == probe::all_probes().size());
  for (const auto& verdict : report.verdicts) {
    INFO(verdict.id << ": " << verdict.detail << ", error " << verdict.error << ", allowed "
                    << verdict.tolerance);
    CHECK(verdict.outcome != probe::Outcome::Fail);
    const bool explained = verdict.outcome == probe::Outcome::Pass || !verdict.detail.empty();
    CHECK(explained);
  }
}
