// SPDX-License-Identifier: Apache-2.0
// `ubique doctor`: does this device compute correctly? Runs the probes (or reads the cache), says
// what failed and what plans will avoid because of it.
#include <fmt/format.h>
#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>

#include "ubique/base/terminal/log.h"
#include "ubique/base/terminal/progress.h"
#include "ubique/base/text/text.h"
#include "ubique/cli/verb.h"
#include "ubique/device/backend.h"
#include "ubique/device/select.h"
#include "ubique/plan/needs.h"
#include "ubique/probe/cache.h"
#include "ubique/probe/report/advice.h"
#include "ubique/probe/report/record.h"
#include "ubique/probe/report/summary.h"
#include "ubique/probe/suite.h"

namespace ubique::cli {
namespace {

constexpr std::size_t kMostFailuresShown = 20;

struct DoctorFlags {
  std::shared_ptr<CommonFlags> common;
  bool refresh = false, list = false;
  std::vector<std::string> only;
  std::string share, needs;
};

/// A pattern is an id with wildcards, an op, or the first part of one ("attention").
bool matches(const probe::Probe& probe, const std::string& pattern) {
  const auto id = probe.id();
  return id == pattern || probe.op == pattern || probe.op.starts_with(pattern + ".") ||
         fnmatch(pattern.c_str(), id.c_str(), 0) == 0;
}

std::vector<probe::Probe> chosen_probes(const DoctorFlags& flags) {
  std::vector<probe::Case> extra;
  if (!flags.needs.empty()) extra = plan::probe_cases(plan::read_needs_file(flags.needs));
  auto probes = probe::all_probes(extra);
  if (flags.only.empty()) return probes;
  std::vector<std::string> ops;
  for (const auto& probe : probes) ops.push_back(probe.op);
  for (const auto& pattern : flags.only) {
    check(std::any_of(probes.begin(), probes.end(),
                      [&](const auto& probe) { return matches(probe, pattern); }),
          ErrorKind::Usage,
          "[cli.doctor] no probe is called that; got --only '{}', expected an op "
          "or a pattern such as 'conv3d*' (--list shows all).{}",
          pattern, hint(pattern, ops));
  }
  std::erase_if(probes, [&](const auto& probe) {
    return std::none_of(flags.only.begin(), flags.only.end(),
                        [&](const auto& pattern) { return matches(probe, pattern); });
  });
  return probes;
}

ExitCode list_probes(const DoctorFlags& flags) {
  auto document = json_document("probe_list", 1);
  auto& ids = document["probes"] = Json::array();
  std::string lines;
  for (const auto& probe : chosen_probes(flags)) {
    ids.push_back(probe.id());
    lines += probe.id() + "\n";
  }
  flags.common->json ? print_json(document) : print_out(lines);
  return ExitCode::Ok;
}

probe::Report probe_selection(const device::Selection& selection, const DoctorFlags& flags) {
  std::optional<Progress> progress;
  probe::RunOptions options;
  options.progress = [&](const std::string& id, std::size_t done, std::size_t total) {
    if (!progress) {
      const auto style =
          Progress::choose_style(STDERR_FILENO, flags.common->json, flags.common->quiet);
      progress.emplace(Progress::Options{.title = "probe",
                                         .total = static_cast<std::int64_t>(total),
                                         .unit = "probes",
                                         .style = style},
                       std::cerr);
    }
    if (done > 0) progress->advance(1, id);
    if (id.empty()) progress->finish();
  };
  return probe::recall_or_run(selection.facts, selection.torch_device, chosen_probes(flags),
                              std::move(options), flags.refresh);
}

Json doctor_json(const device::Selection& selection, const probe::Report& report) {
  auto document = json_document("doctor", 1);
  const auto counts = probe::count(report);
  document["label"] = selection.facts.label();
  document["pretend"] = selection.facts.pretend;
  document["from_cache"] = report.from_cache;
  document["passed"] = counts.passed;
  document["failed"] = counts.failed;
  document["refused"] = counts.refused;
  document["skipped"] = counts.skipped;
  document["slower_than_cpu"] = counts.slower_than_cpu;
  document["advice"] = probe::advice(report);
  probe::put_report(document, report);
  return document;
}

std::string list_text(const std::string& title, std::vector<std::string> lines) {
  if (lines.empty()) return {};
  const auto left_out = lines.size() > kMostFailuresShown ? lines.size() - kMostFailuresShown : 0;
  lines.resize(lines.size() - left_out);
  auto text = title + "\n";
  for (const auto& line : lines) text += "  " + line + "\n";
  if (left_out > 0) text += fmt::format("  and {} more (--verbose shows all)\n", left_out);
  return text + "\n";
}

std::string doctor_text(const device::Selection& selection, const probe::Report& report,
                        bool verbose) {
  const auto& facts = selection.facts;
  auto text = fmt::format("{}, torch {}, {}{}\n\n", facts.label(), facts.torch_version,
                          facts.os_version, facts.driver.empty() ? "" : ", " + facts.driver);
  text += (verbose ? probe::full_table(report) : probe::summary_table(report)) + "\n";
  if (!verbose) text += list_text("What failed", probe::failures(report));
  const auto sentences = probe::advice(report);
  text += list_text("What the planner will avoid because of this",
                    sentences.empty() ? std::vector<std::string>{"nothing"} : sentences);
  const auto source = report.from_cache ? std::string("kept from an earlier run; --refresh repeats")
                                        : fmt::format("{:.1f} s", report.seconds);
  return text + fmt::format("{} ({})\n", probe::closing_line(report), source);
}

ExitCode run_doctor(const DoctorFlags& flags) {
  if (flags.list) return list_probes(flags);
  const auto selection =
      device::select(device::parse_request(flags.common->device), flags.common->fallback);
  const auto report = probe_selection(selection, flags);
  if (!flags.share.empty()) probe::write_record(flags.share, report);
  log::debug("{}", device::find_backend(selection.facts.backend)->ledger());
  if (flags.common->json) {
    print_json(doctor_json(selection, report));
  } else {
    print_out(doctor_text(selection, report, flags.common->verbose));
  }
  return probe::count(report).failed > 0 ? ExitCode::Parity : ExitCode::Ok;
}

}  // namespace

Verb doctor_verb() {
  return {
      .name = "doctor",
      .summary = "prove with numbers what the device computes right",
      .description =
          "Runs small probes of the ops that models need, forward and gradient, in each "
          "dtype and layout, and compares them with a float64 reference on the CPU. "
          "Verdicts are kept and used by the planner. Exits with 5 if a probe failed; an "
          "op or dtype that the device refuses is no failure.",
      .examples = {{"ubique doctor", "probe the device that auto picks"},
                   {"ubique doctor --device cpu --refresh", "the CPU, whatever is kept"},
                   {"ubique doctor --only attention,conv3d", "some ops only"},
                   {"ubique doctor --needs model.yaml", "also that model's own shapes"},
                   {"ubique doctor --share my-mac.json", "a record without names, to pass on"}},
      .setup = [](CLI::App& command) -> std::function<ExitCode()> {
        auto flags = std::make_shared<DoctorFlags>();
        flags->common = add_common_flags(command, /*with_device=*/true);
        command.add_flag("--refresh", flags->refresh, "run every probe again");
        command.add_option("--only", flags->only, "only these ops or patterns, e.g. 'conv3d*'")
            ->delimiter(',')
            ->type_name("GLOB");
        command.add_option("--needs", flags->needs, "also what this model needs (see ubique plan)")
            ->type_name("FILE");
        command.add_flag("--list", flags->list, "name the probes and run none");
        command.add_option("--share", flags->share, "write a record without names to this file")
            ->type_name("FILE");
        return [flags] { return run_doctor(*flags); };
      }};
}

}  // namespace ubique::cli
