// SPDX-License-Identifier: Apache-2.0
// The rows of the summary, short and in full.
#include "ubique/engine/session/device_summary.h"

#include <fmt/format.h>

#include "ubique/base/files/file.h"
#include "ubique/base/files/library.h"
#include "ubique/base/terminal/table.h"
#include "ubique/base/text/text.h"
#include "ubique/plan/plan.h"
#include "ubique/probe/cache.h"

namespace ubique::engine {
namespace {

using device::Facts;

double decimal_gigabytes(std::int64_t bytes) { return static_cast<double>(bytes) / 1e9; }

/// As the StarCoder guide's summary has it: memory of a card, or of a Mac's GPU.
std::string vram_text(const Facts& facts) {
  if (facts.kind == device::Kind::Cpu) return "none (the CPU computes in RAM)";
  return fmt::format("{:.1f} GB of {:.1f} GB", decimal_gigabytes(facts.budget_bytes),
                     decimal_gigabytes(facts.total_bytes));
}

/// That library's backward pass ignores q, k and v (docs/why/device-rules.md).
std::string metal_flash_text(const Facts& facts) {
  return facts.kind == device::Kind::Mps ? "False (never used: training with it is wrong)"
                                         : "False (Metal only)";
}

std::string probes_text(const Facts& facts) {
  const auto report = probe::load_cached_report(facts);
  if (!report || report->verdicts.empty()) return "none kept; ubique doctor runs them";
  return fmt::format("{} kept; ubique doctor shows them", report->verdicts.size());
}

void add_verbose_rows(const Facts& facts, Table& table) {
  table.add_row({"Max VRAM", vram_text(facts)});
  table.add_row({"Metal FlashAttention", metal_flash_text(facts)});
  table.add_row({"Memory", fmt::format("{} in all, {} free", human_bytes(facts.total_bytes),
                                       human_bytes(facts.free_bytes))});
  if (facts.memory_gbps > 0) {
    table.add_row({"Memory Bandwidth", fmt::format("{:g} GB/s", facts.memory_gbps)});
  }
  if (facts.max_tensor_bytes > 0) {
    table.add_row({"Largest Tensor", human_bytes(facts.max_tensor_bytes)});
  }
  if (facts.capability > 0) {
    table.add_row(
        {"Compute Capability", fmt::format("{}.{}", facts.capability / 10, facts.capability % 10)});
  }
  table.add_row({"Chip", facts.chip.empty() ? "unknown" : facts.chip});
  table.add_row({"Cores", std::to_string(facts.cores)});
  table.add_row({"LibTorch", facts.torch_version});
  table.add_row({"Probes", probes_text(facts)});
  table.add_row({"Cache", cache_folder().string()});
  table.add_row({"Libraries", library_folder().string()});
}

}  // namespace

const char* yes_no(bool value) { return value ? "True" : "False"; }

std::vector<std::string> dtype_names(const std::vector<DType>& dtypes) {
  std::vector<std::string> names;
  for (const auto dtype : dtypes) names.emplace_back(to_string(dtype));
  return names;
}

std::string attention_backend(const Facts& facts) {
  plan::Needs needs;
  needs.name = "causal attention";
  needs.parameters = {{.name = "weights", .count = 1 << 20}};
  needs.activations.run = 1 << 20;
  needs.attention = {{.heads = 8, .kv_heads = 8, .queries = 1024, .keys = 1024, .causal = true}};
  needs.tolerates_f16 = needs.tolerates_bf16 = true;
  plan::Wishes wishes;
  wishes.mode = plan::Mode::Run;
  const auto report = probe::load_cached_report(facts).value_or(probe::Report{});
  return std::string(to_string(plan::make_plan(facts, report, needs, wishes).attention.value));
}

bool supports_bf16(const Facts& facts) { return facts.has_dtype(DType::BF16); }

std::string summary_block(const device::Selection& selection, bool verbose) {
  const auto& facts = selection.facts;
  Table table({"Device Backend Summary", ""});
  table.add_row({"Platform", fmt::format("{} ({})", facts.platform, facts.os_version)});
  table.add_row({"Device", fmt::format("{}  {}", facts.backend, facts.label())});
  table.add_row({"Why", selection.reason});
  table.limit_width(1, 76);
  table.add_row({"Attention Backend", attention_backend(facts)});
  table.add_row({"Max Memory", fmt::format("{:.1f} GB ({})", decimal_gigabytes(facts.budget_bytes),
                                           facts.budget_reason)});
  table.add_row({"Supports bf16", yes_no(supports_bf16(facts))});
  table.add_row({"Native dtypes", join(dtype_names(facts.native_dtypes), ", ")});
  if (!facts.instruction_sets.empty()) {
    table.add_row({"Instruction sets", join(facts.instruction_sets, ", ")});
  }
  if (!facts.driver.empty()) table.add_row({"Driver", facts.driver});
  if (!facts.untested.empty()) table.add_row({"Untested", facts.untested + ": never run by us"});
  if (verbose) add_verbose_rows(facts, table);
  return table.to_text();
}

}  // namespace ubique::engine
