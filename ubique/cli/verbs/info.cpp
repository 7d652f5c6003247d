// SPDX-License-Identifier: Apache-2.0
// `ubique info`: what this machine can do, in one screen, and why not more.
#include <fmt/format.h>

#include <cmath>

#include "ubique/base/terminal/table.h"
#include "ubique/base/text/text.h"
#include "ubique/cli/verb.h"
#include "ubique/device/host.h"
#include "ubique/device/select.h"
#include "ubique/engine/session/device_summary.h"

namespace ubique::cli {
namespace {

using device::Candidate;
using device::Facts;
using engine::attention_backend;
using engine::dtype_names;
using engine::summary_block;
using engine::supports_bf16;
using engine::yes_no;

const Candidate* candidate_of(const std::string& backend) {
  for (const auto& candidate : device::survey()) {
    if (candidate.backend == backend) return &candidate;
  }
  return nullptr;
}

bool is_there(const std::string& backend) {
  const auto* candidate = candidate_of(backend);
  return candidate != nullptr && !candidate->devices.empty();
}

double gigabytes(std::int64_t bytes) { return std::round(static_cast<double>(bytes) / 1e7) / 100; }

std::string device_table(const device::Selection& selection) {
  Table table({"Property", "Value"});
  table.add_row({"PyTorch Version", device::torch_version()});
  table.add_row({"CUDA Available", yes_no(is_there("cuda"))});
  table.add_row({"MPS Available", yes_no(is_there("mps"))});
  table.add_row({"CPU", device::host().cpu_name});
  table.add_row({"CPU Cores", std::to_string(device::host().cores)});
  table.add_row({"CPU Memory (GB)",
                 fmt::format("{:.2f}", gigabytes(candidate_of("cpu")->devices[0].total_bytes))});
  if (is_there("cuda")) {
    const auto& card = candidate_of("cuda")->devices[0];
    table.add_row({"CUDA Device", card.name});
    table.add_row({"CUDA Device Count", std::to_string(card.count)});
    table.add_row({"CUDA Memory (GB)", fmt::format("{:.2f}", gigabytes(card.total_bytes))});
  }
  if (is_there("mps")) table.add_row({"MPS Functional", yes_no(candidate_of("mps")->functional)});
  if (selection.facts.pretend) table.add_row({"Pretend Device", selection.facts.label()});
  return table.to_text();
}

std::string candidates_table(const device::Selection& selection) {
  Table table({"Device", "Found", "State"});
  table.limit_width(2, 76);
  const auto add = [&](const Candidate& candidate) {
    const auto name = candidate.devices.empty() ? std::string("-") : candidate.devices[0].label();
    std::string state = candidate.functional ? "works" : candidate.reason;
    if (candidate.functional && !candidate.reason.empty()) state += "; " + candidate.reason;
    if (candidate.backend == selection.facts.backend) state += "  <- used";
    table.add_row({candidate.backend, name, state});
  };
  for (const auto& candidate : device::survey()) add(candidate);
  if (candidate_of(selection.facts.backend) == nullptr) {
    add({.backend = selection.facts.backend,
         .devices = {selection.facts},
         .functional = true,
         .reason = {}});
  }
  return table.to_text();
}

Json facts_json(const Facts& facts) {
  return {{"backend", facts.backend},
          {"kind", to_string(facts.kind)},
          {"index", facts.index},
          {"name", facts.name},
          {"label", facts.label()},
          {"pretend", facts.pretend},
          {"untested", facts.untested},
          {"total_bytes", facts.total_bytes},
          {"free_bytes", facts.free_bytes},
          {"budget_bytes", facts.budget_bytes},
          {"budget_reason", facts.budget_reason},
          {"capability", facts.capability},
          {"chip", facts.chip},
          {"cores", facts.cores},
          {"native_dtypes", dtype_names(facts.native_dtypes)},
          {"instruction_sets", facts.instruction_sets},
          {"memory_gbps", facts.memory_gbps},
          {"driver", facts.driver}};
}

Json info_json(const device::Selection& selection) {
  auto document = json_document("info", 1);
  document["torch_version"] = device::torch_version();
  document["platform"] = device::host().platform;
  document["os_version"] = device::host().os_version;
  document["cuda_available"] = is_there("cuda");
  document["mps_available"] = is_there("mps");
  document["cpu_count"] = device::host().cores;
  if (is_there("cuda")) {
    const auto& card = candidate_of("cuda")->devices[0];
    document["cuda_device_name"] = card.name;
    document["cuda_device_count"] = card.count;
    document["cuda_memory_gb"] = gigabytes(card.total_bytes);
  }
  if (is_there("mps")) document["mps_functional"] = candidate_of("mps")->functional;
  document["device"] = facts_json(selection.facts);
  document["device_reason"] = selection.reason;
  document["attention_backend"] = attention_backend(selection.facts);
  document["max_memory_gb"] = gigabytes(selection.facts.budget_bytes);
  document["supports_bf16"] = supports_bf16(selection.facts);
  document["candidates"] = Json::array();
  for (const auto& candidate : device::survey()) {
    Json row = {{"backend", candidate.backend},
                {"functional", candidate.functional},
                {"reason", candidate.reason},
                {"devices", Json::array()}};
    for (const auto& facts : candidate.devices) row["devices"].push_back(facts_json(facts));
    document["candidates"].push_back(std::move(row));
  }
  return document;
}

ExitCode run_info(const CommonFlags& flags) {
  // Before the survey: a pretend device must be loaded before anyone asks about CUDA.
  const auto selection = device::select(device::parse_request(flags.device), flags.fallback);
  if (flags.json) {
    print_json(info_json(selection));
  } else {
    print_out(device_table(selection) + "\n" + candidates_table(selection) + "\n" +
              summary_block(selection, flags.verbose));
  }
  return ExitCode::Ok;
}

}  // namespace

Verb info_verb() {
  return {.name = "info",
          .summary = "what this machine can do, and why not more",
          .description = {},
          .examples = {{"ubique info", "this machine and the device that auto picks"},
                       {"ubique info --device cuda:1", "another device"},
                       {"ubique info -v", "more about memory, probes and folders"},
                       {"ubique info --json", "the same for programs"}},
          .setup = [](CLI::App& command) -> std::function<ExitCode()> {
            auto flags = add_common_flags(command, /*with_device=*/true);
            return [flags] { return run_info(*flags); };
          }};
}

}  // namespace ubique::cli
