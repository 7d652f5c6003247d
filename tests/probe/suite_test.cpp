// SPDX-License-Identifier: Apache-2.0
// Running probes: all built-in ones on the CPU, and how findings and exceptions become verdicts.
#include "ubique/probe/suite.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <stdexcept>

#include "ubique/probe/core/strict.h"
#include "ubique/probe/probes/cases.h"
#include "ubique/probe/probes/operation.h"
#include "ubique/probe/report/advice.h"

using namespace ubique;
using namespace ubique::probe;

namespace {

const c10::Device kCpu(c10::kCPU);

device::Facts cpu_facts() {
  device::Facts facts;
  facts.backend = "cpu";
  facts.name = "test CPU";
  return facts;
}

Probe probe_that(std::function<Finding(const Site&)> run) {
  return {"test", "", DType::F32, Layout::Contiguous, false, std::move(run)};
}

Verdict verdict_of_running(std::function<Finding(const Site&)> run) {
  return run_probes(cpu_facts(), kCpu, {probe_that(std::move(run))}).verdicts.at(0);
}

std::vector<Probe> some_probes() {
  auto probes = probes_of({.op = "linear", .shape = {5, 16}, .out_channels = 4});
  for (const auto& op : {"conv2d", "conv3d"}) {
    Case request{.op = op, .shape = {1, 2, 5, 5}, .out_channels = 2, .dtypes = {DType::BF16}};
    if (request.op == "conv3d") request.shape.push_back(5);
    for (auto& probe : probes_of(request)) probes.push_back(probe);
  }
  return probes;
}

}  // namespace

TEST_CASE("suite: all built-in probes pass on the CPU") {
  RunOptions options;
  options.timing = false;
  const auto report = run_probes(cpu_facts(), kCpu, all_probes(), options);
  for (const auto& verdict : report.verdicts) {
    INFO(verdict.id << ": " << verdict.detail << ", error " << verdict.error << ", allowed "
                    << verdict.tolerance);
    CHECK((verdict.outcome == Outcome::Pass || verdict.op == "transfer.non_blocking"));
    CHECK(verdict.outcome != Outcome::Fail);
  }
  CHECK(report.verdicts.size() == all_probes().size());
  CHECK(report.device == "test CPU");
  CHECK(report.probe_version == kProbeVersion);
  CHECK(advice(report).empty());
}

TEST_CASE("suite: two runs give the same errors, another seed gives others") {
  const auto first = run_probes(cpu_facts(), kCpu, some_probes());
  const auto again = run_probes(cpu_facts(), kCpu, some_probes());
  RunOptions other_seed;
  other_seed.seed = 7;
  const auto other = run_probes(cpu_facts(), kCpu, some_probes(), other_seed);
  REQUIRE(first.verdicts.size() == again.verdicts.size());
  int changed = 0;
  for (std::size_t i = 0; i < first.verdicts.size(); ++i) {
    CHECK(first.verdicts[i].id == again.verdicts[i].id);
    CHECK(first.verdicts[i].error == again.verdicts[i].error);
    changed += first.verdicts[i].error != other.verdicts[i].error ? 1 : 0;
  }
  CHECK(changed > 0);
}

TEST_CASE("suite: a probe's inputs do not depend on which others run") {
  auto probes = some_probes();
  const auto all = run_probes(cpu_facts(), kCpu, probes);
  const auto alone = run_probes(cpu_facts(), kCpu, {probes.back()});
  CHECK(alone.verdicts[0].error == all.verdicts.back().error);
}

TEST_CASE("suite: an op that computes wrongly fails, forward and gradient") {
  OperationProbes wrong{.op = "test", .dtypes = {DType::F32}};
  wrong.operation.operands = {{.name = "input", .shape = {3, 4}}};
  wrong.operation.forward = [](const Tensors& in) {
    const bool reference = in[0].scalar_type() == at::kDouble;
    return Tensors{in[0] * (reference ? 1.0 : 1.001)};
  };
  const auto report = run_probes(cpu_facts(), kCpu, make_probes(wrong));
  REQUIRE(report.verdicts.size() == 2);
  CHECK(report.verdicts[0].outcome == Outcome::Fail);
  CHECK(report.verdicts[0].detail.starts_with("element "));
  CHECK(report.verdicts[1].outcome == Outcome::Fail);
  CHECK(report.verdicts[1].detail.starts_with("gradient of input: element "));
  CHECK(report.verdicts[1].error > report.verdicts[1].tolerance);
}

TEST_CASE("suite: an invariant that breaks fails a probe whose numbers agree") {
  OperationProbes leaky{.op = "test", .dtypes = {DType::F32}, .gradient = false};
  leaky.operation.operands = {{.name = "input", .shape = {3}}};
  leaky.operation.forward = [](const Tensors& in) { return Tensors{in[0] + 1}; };
  leaky.operation.invariant = [](const Tensors&, const at::Tensor&, double) {
    return not_run(Outcome::Fail, "leaks");
  };
  const auto report = run_probes(cpu_facts(), kCpu, make_probes(leaky));
  CHECK(report.verdicts.at(0).outcome == Outcome::Fail);
  CHECK(report.verdicts[0].detail == "leaks");
}

TEST_CASE("suite: exceptions of the device become verdicts") {
  const auto refused = verdict_of_running([](const Site&) -> Finding {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "no such op\nsecond line");
  });
  CHECK(refused.outcome == Outcome::Refused);
  CHECK(refused.detail == "no such op");
  CHECK(verdict_of_running([](const Site&) -> Finding {
          TORCH_CHECK_TYPE(false, "float64 here?");
        }).outcome == Outcome::Refused);
  CHECK(verdict_of_running([](const Site&) -> Finding {
          TORCH_CHECK(false, "BFloat16 is not supported on this device");
        }).outcome == Outcome::Refused);
  const auto failed = verdict_of_running(
      [](const Site&) -> Finding { TORCH_CHECK(false, "illegal memory access"); });
  CHECK(failed.outcome == Outcome::Fail);
  CHECK(failed.detail == "illegal memory access");
  CHECK(verdict_of_running([](const Site&) -> Finding {
          throw std::runtime_error("driver gone");
        }).outcome == Outcome::Fail);
}

TEST_CASE("suite: running out of memory skips a probe, and is worth retrying") {
  const auto verdict = verdict_of_running([](const Site&) -> Finding {
    TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory");
  });
  CHECK(verdict.outcome == Outcome::Skipped);
  CHECK(worth_retrying(verdict));
}

TEST_CASE("suite: probes beyond the time budget are skipped, with that reason") {
  RunOptions options;
  options.budget_seconds = 1e-9;
  const auto report = run_probes(cpu_facts(), kCpu, some_probes(), options);
  CHECK(report.verdicts.back().outcome == Outcome::Skipped);
  CHECK(worth_retrying(report.verdicts.back()));
}

TEST_CASE("suite: after a request to stop the rest is skipped, and worth retrying") {
  int asked = 0;
  RunOptions options;
  options.stop = [&] { return ++asked > 1; };
  const auto report = run_probes(cpu_facts(), kCpu, some_probes(), options);
  CHECK(report.verdicts.front().outcome == Outcome::Pass);
  CHECK(report.verdicts.back().outcome == Outcome::Skipped);
  CHECK(worth_retrying(report.verdicts.back()));
}

TEST_CASE("suite: the estimate grows with the work of the references") {
  Case request{.op = "conv2d", .shape = {1, 8, 9, 9}, .out_channels = 8};
  const double small = estimated_seconds(probes_of(request));
  request.shape = {1, 512, 9, 9};
  request.out_channels = 512;
  CHECK(estimated_seconds(probes_of(request)) > small);
  CHECK(estimated_seconds({}) == 0);
}

TEST_CASE("suite: a probe that crashed before fails without being run") {
  bool ran = false;
  const auto probe = probe_that([&](const Site&) {
    ran = true;
    return Finding{};
  });
  RunOptions options;
  options.crashed = {probe.id()};
  const auto report = run_probes(cpu_facts(), kCpu, {probe}, options);
  CHECK(report.verdicts.at(0).outcome == Outcome::Fail);
  CHECK(report.verdicts[0].detail.find("process down") != std::string::npos);
  CHECK_FALSE(ran);
}

TEST_CASE("suite: progress counts every probe and ends with an empty name") {
  std::vector<std::string> seen;
  RunOptions options;
  options.progress = [&](const std::string& id, std::size_t done, std::size_t total) {
    CHECK(done == seen.size());
    CHECK(total == 2);
    seen.push_back(id);
  };
  auto probes = some_probes();
  probes.resize(2);
  run_probes(cpu_facts(), kCpu, probes, options);
  CHECK(seen == std::vector<std::string>{probes[0].id(), probes[1].id(), ""});
}

TEST_CASE("suite: timed probes carry a time, and none without timing") {
  Case request{.op = "matmul", .shape = {8, 8}, .out_channels = 8};
  request.timed = true;
  for (const bool timing : {true, false}) {
    RunOptions options;
    options.timing = timing;
    const auto report = run_probes(cpu_facts(), kCpu, probes_of(request), options);
    CHECK((report.verdicts.at(0).device_ms > 0) == timing);
    CHECK(report.verdicts[0].cpu_ms == 0);  // the CPU is not compared with itself
  }
}

TEST_CASE("strict numerics: reduced precision is off inside and back afterwards") {
  auto& context = at::globalContext();
  context.setFloat32MatmulPrecision("medium");
  context.setAllowTF32CuDNN(true);
  {
    const StrictNumerics strict;
    CHECK(context.float32MatmulPrecision() == at::Float32MatmulPrecision::HIGHEST);
    CHECK_FALSE(context.allowTF32CuDNN(at::Float32Op::CONV));
    CHECK_FALSE(context.allowTF32CuBLAS());
  }
  CHECK(context.float32MatmulPrecision() == at::Float32MatmulPrecision::MEDIUM);
  CHECK(context.allowTF32CuDNN(at::Float32Op::CONV));
  context.setFloat32MatmulPrecision("highest");
}
