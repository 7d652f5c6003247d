// SPDX-License-Identifier: Apache-2.0
// Which probes a call needs before its first result, on each kind of device.
#include "ubique/engine/session/first_use.h"

#include <algorithm>

#include "tests/base/scratch.h"
#include "ubique/device/profile.h"
#include "ubique/probe/cache.h"

using namespace ubique;
using namespace ubique::engine;

namespace {

/// As many different convolutions as MSI-Net has, some of them heavy.
plan::Needs picture_model() {
  plan::Needs needs;
  needs.name = "pictures";
  needs.parameters = {{.name = "all", .count = 1000}};
  needs.activations = {.saved = 1000, .run = 1000, .largest = 1000};
  needs.tolerates_f16 = needs.tolerates_bf16 = true;
  for (std::int64_t width = 2; width <= 512; width *= 2) {
    needs.convs.push_back({.dims = 2, .in = width, .out = width});
  }
  return needs;
}

/// The first round: nothing is known of the device.
std::vector<probe::Probe> probes_for(const device::Facts& facts, const plan::Needs& needs,
                                     plan::Mode mode) {
  plan::Wishes wishes;
  wishes.mode = mode;
  const auto plan = plan::make_plan(facts, {}, needs, wishes);
  return first_use_probes({facts, needs, wishes}, plan, {});
}

std::vector<probe::Probe> probes_on(const char* profile, const plan::Needs& needs,
                                    plan::Mode mode = plan::Mode::Run) {
  return probes_for(device::load_profile(profile).facts, needs, mode);
}

template <typename Condition>
bool any(const std::vector<probe::Probe>& probes, Condition condition) {
  return std::any_of(probes.begin(), probes.end(), condition);
}

bool any_of_op(const std::vector<probe::Probe>& probes, const std::string& op) {
  return any(probes, [&](const auto& probe) { return probe.op.starts_with(op); });
}

}  // namespace

TEST_CASE("first use: a CPU probes only the heaviest convolutions, to choose a layout") {
  const auto probes = probes_on("cpu-laptop", picture_model());
  CHECK(probes.size() == 6);  // three convolutions, two layouts
  for (const auto& probe : probes) {
    CAPTURE(probe.id());
    CHECK(probe.op == "conv2d");
    CHECK(probe.timed);
    CHECK(probe.dtype == DType::F32);
    CHECK_FALSE(probe.gradient);
  }
  CHECK(any(probes, [](const auto& probe) { return probe.tag.starts_with("c512"); }));
}

TEST_CASE("first use: a CPU with nothing to choose probes nothing") {
  auto needs = picture_model();
  needs.convs.clear();
  needs.ops = {"matmul", "linear"};
  CHECK(probes_on("cpu-laptop", needs).empty());
  needs = picture_model();
  needs.host.own_kernels = true;
  CHECK(probes_on("cpu-laptop", needs, plan::Mode::Train).empty());
}

TEST_CASE("first use: a CPU that may gain by bf16 compares the two dtypes") {
  auto needs = picture_model();
  needs.convs.clear();
  needs.ops = {"matmul"};
  const auto probes = probes_on("cpu-server-amx", needs);
  CHECK(any(probes, [](const auto& probe) { return probe.dtype == DType::BF16 && probe.timed; }));
  CHECK(any(probes, [](const auto& probe) { return probe.dtype == DType::F32 && probe.timed; }));
  CHECK_FALSE(any(probes, [](const auto& probe) { return probe.dtype == DType::F16; }));
  CHECK_FALSE(any_of_op(probes, "elementary"));
}

TEST_CASE("first use: on CUDA the plan's own dtype and layout are probed, and no others") {
  const auto probes = probes_on("h200", picture_model());
  const auto conv = [](const auto& probe) { return probe.op == "conv2d"; };
  CHECK(std::count_if(probes.begin(), probes.end(), conv) == 9);
  for (const auto& probe : probes) {
    CAPTURE(probe.id());
    CHECK(probe.dtype != DType::F16);
    CHECK_FALSE(probe.gradient);
    const bool as_planned =
        probe.dtype == DType::BF16 && probe.layout == probe::Layout::ChannelsLast;
    CHECK((as_planned || !conv(probe)));
  }
  for (const char* op : {"elementary.pointwise", "image", "views", "transfer", "autocast"}) {
    CAPTURE(op);
    CHECK(any_of_op(probes, op));
  }
  const auto small_first = [](const auto& a, const auto& b) { return a.work < b.work; };
  CHECK(std::is_sorted(probes.begin(), probes.end(), small_first));
}

TEST_CASE("first use: training adds gradients") {
  const auto probes = probes_on("h200", picture_model(), plan::Mode::Train);
  CHECK(any(probes, [](const auto& probe) { return probe.op == "conv2d" && probe.gradient; }));
  CHECK(any(probes, [](const auto& probe) { return probe.op == "image" && probe.gradient; }));
}

TEST_CASE("first use: where something failed, the alternatives are probed too") {
  const auto facts = device::load_profile("h200").facts;
  const auto needs = picture_model();
  plan::Wishes wishes;
  wishes.mode = plan::Mode::Run;
  probe::Report known;
  probe::Verdict wrong;
  wrong.op = "conv2d";
  wrong.id = "conv2d[x]/bf16/channels_last/forward";
  wrong.dtype = DType::BF16;
  wrong.layout = probe::Layout::ChannelsLast;
  wrong.outcome = probe::Outcome::Fail;
  known.verdicts = {wrong};
  const auto plan = plan::make_plan(facts, known, needs, wishes);
  const auto probes = first_use_probes({facts, needs, wishes}, plan, known);
  CHECK(any(probes, [](const auto& probe) {
    return probe.op == "conv2d" && probe.dtype == DType::BF16 &&
           probe.layout == probe::Layout::Contiguous;
  }));
}

TEST_CASE("first use: what is known is not probed again") {
  const auto facts = device::load_profile("cpu-laptop").facts;
  const auto needs = picture_model();
  plan::Wishes wishes;
  wishes.mode = plan::Mode::Run;
  const auto plan = plan::make_plan(facts, {}, needs, wishes);
  probe::Report known;
  for (const auto& probe : first_use_probes({facts, needs, wishes}, plan, {})) {
    probe::Verdict verdict;
    verdict.id = probe.id();
    verdict.outcome = probe::Outcome::Pass;
    verdict.device_ms = 1;
    known.verdicts.push_back(verdict);
  }
  CHECK(first_use_probes({facts, needs, wishes}, plan, known).empty());
}

TEST_CASE("first use: a request to stop ends it at once, with a plan and nothing kept") {
  const test::ScratchFolder cache;
  const test::ScopedVariable variable("UBIQUE_CACHE_DIR", cache.path().c_str());
  const auto facts = device::load_profile("cpu-laptop").facts;
  const auto needs = picture_model();
  plan::Wishes wishes;
  wishes.mode = plan::Mode::Run;
  int asked = 0;
  const auto stop = [&] { return ++asked > 1; };  // between the announcement and the first probe
  const auto plan = probed_plan({facts, needs, wishes}, c10::Device(c10::kCPU), stop);
  CHECK(plan.memory_format.reason.find("not measured") != std::string::npos);
  const auto kept = probe::load_cached_report(facts);
  REQUIRE(kept.has_value());
  CHECK(kept->verdicts.empty());
}
