// SPDX-License-Identifier: Apache-2.0
// Runs probes one by one and turns exceptions into verdicts.
#include "ubique/probe/suite.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/device/runtime.h"
#include "ubique/probe/core/crash_note.h"
#include "ubique/probe/core/strict.h"
#include "ubique/probe/core/timing.h"
#include "ubique/probe/probes/cases.h"
#include "ubique/probe/probes/groups.h"

namespace ubique::probe {
namespace {

constexpr const char* kNoTime = "the time budget was spent";
constexpr const char* kNoMemory = "not enough memory";
constexpr const char* kStopped = "stopped before its turn";

std::string first_line(const std::string& message) { return message.substr(0, message.find('\n')); }

bool sounds_like_refusal(const std::string& message) {
  constexpr std::array<std::string_view, 7> kSigns = {
      "not implemented",  "not supported", "unsupported",  "doesn't support",
      "does not support", "not_supported", "not available"};
  const auto words = lowercase(message);
  return std::any_of(kSigns.begin(), kSigns.end(),
                     [&](auto sign) { return words.find(sign) != std::string::npos; });
}

Finding finding_of(const c10::Error& error) {
  const std::string message = error.what_without_backtrace();
  const bool refused = dynamic_cast<const c10::NotImplementedError*>(&error) != nullptr ||
                       dynamic_cast<const c10::TypeError*>(&error) != nullptr ||
                       sounds_like_refusal(message);
  if (device::is_out_of_memory(error)) {
    return not_run(Outcome::Skipped, fmt::format("{}: {}", kNoMemory, first_line(message)));
  }
  return not_run(refused ? Outcome::Refused : Outcome::Fail, first_line(message));
}

/// Catches everything that a probe may throw.
Finding run_guarded(const Probe& probe, const Site& site) {
  try {
    auto finding = probe.run(site);
    device::synchronize(site.device);  // asynchronous errors belong to this probe
    return finding;
  } catch (const c10::Error& error) {
    return finding_of(error);
  } catch (const std::bad_alloc&) {
    return not_run(Outcome::Skipped, kNoMemory);
  } catch (const std::exception& error) {
    return not_run(Outcome::Fail, first_line(error.what()));
  }
}

Verdict verdict_of(const Probe& probe, Finding finding) {
  return {.id = probe.id(),
          .op = probe.op,
          .dtype = probe.dtype,
          .layout = probe.layout,
          .gradient = probe.gradient,
          .outcome = finding.outcome,
          .error = finding.error,
          .tolerance = finding.tolerance,
          .device_ms = finding.device_ms,
          .cpu_ms = finding.cpu_ms,
          .detail = std::move(finding.detail)};
}

/// LibTorch's warnings during probes go to the debug log (--verbose).
class WarningsToLog : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override { log::debug("[torch] {}", warning.msg()); }
};

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void append(std::vector<Probe>& list, std::set<std::string>& seen, std::vector<Probe> more) {
  for (auto& probe : more) {
    if (seen.insert(probe.id()).second) list.push_back(std::move(probe));
  }
}

std::vector<Case> built_in_cases() {
  std::vector<Case> cases;
  for (const auto& group :
       {matmul_cases(), conv_cases(), norm_cases(), attention_cases(), cumsum_cases()}) {
    cases.insert(cases.end(), group.begin(), group.end());
  }
  return cases;
}

}  // namespace

std::vector<Probe> all_probes(const std::vector<Case>& extra) {
  std::vector<Probe> list;
  std::set<std::string> seen;
  for (const auto& request : built_in_cases()) append(list, seen, probes_of(request));
  for (auto* group :
       {elementary_probes, image_probes, strided_view_probes, sliced_view_probes, transfer_probes,
        sampling_probes, autocast_probes, checkpoint_probes, limit_probes}) {
    append(list, seen, group());
  }
  for (const auto& request : extra) append(list, seen, probes_of(request));
  return list;
}

bool worth_retrying(const Verdict& verdict) {
  return verdict.outcome == Outcome::Skipped &&
         (verdict.detail == kNoTime || verdict.detail == kStopped ||
          verdict.detail.starts_with(kNoMemory));
}

bool lacks_time(const Probe& probe, const Verdict& verdict) {
  return probe.timed && verdict.outcome == Outcome::Pass && verdict.device_ms == 0;
}

double estimated_seconds(const std::vector<Probe>& probes) {
  // Of one thread of a CPU of 2022; a timed probe also runs for about 50 ms on each of two devices.
  constexpr double kEach = 0.005, kTimed = 0.1, kWorkPerSecond = 2e9;
  double seconds = 0;
  for (const auto& probe : probes) {
    seconds += kEach + (probe.timed ? kTimed : 0) + probe.work / kWorkPerSecond;
  }
  return seconds;
}

Report empty_report(const device::Facts& facts) {
  Report report;
  report.device = facts.name;
  report.backend = facts.backend;
  report.torch_version = facts.torch_version;
  report.os_version = facts.os_version;
  report.driver = facts.driver;
  report.chip = facts.chip;
  report.probe_version = kProbeVersion;
  return report;
}

Report run_probes(const device::Facts& facts, c10::Device device, const std::vector<Probe>& probes,
                  const RunOptions& options) {
  const StrictNumerics strict;
  const int threads = at::get_num_threads();
  const ThreadCount one(1);
  WarningsToLog warnings;
  const c10::WarningUtils::WarningHandlerGuard to_log(&warnings);
  const Stopwatch watch;
  CrashNote note(options.crash_note);
  auto report = empty_report(facts);
  for (const auto& probe : probes) {
    const auto id = probe.id();
    if (options.progress) options.progress(id, report.verdicts.size(), probes.size());
    Finding finding;
    if (options.crashed.count(id) > 0) {
      finding = not_run(Outcome::Fail, "took the process down when it was last run");
    } else if (options.stop && options.stop()) {
      finding = not_run(Outcome::Skipped, kStopped);
    } else if (options.budget_seconds > 0 && watch.seconds() > options.budget_seconds) {
      finding = not_run(Outcome::Skipped, kNoTime);
    } else {
      note.begin(id);
      finding = run_guarded(probe, {device, facts, Random(options.seed, name_hash(id)),
                                    options.timing, threads, options.stop});
      note.end();
    }
    report.verdicts.push_back(verdict_of(probe, std::move(finding)));
  }
  if (options.progress) options.progress({}, probes.size(), probes.size());
  report.seconds = watch.seconds();
  return report;
}

}  // namespace ubique::probe
