// SPDX-License-Identifier: Apache-2.0
// Rows, cells and counts of the tables.
#include "ubique/probe/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ubique/base/terminal/table.h"
#include "ubique/probe/report/advice.h"

namespace ubique::probe {
namespace {

constexpr std::array<DType, 3> kColumns = {DType::F32, DType::BF16, DType::F16};

struct SummaryRow {
  std::string op;
  Layout layout;
  std::vector<const Verdict*> verdicts;
};

std::vector<SummaryRow> rows_of(const Report& report) {
  std::vector<SummaryRow> rows;
  for (const auto& verdict : report.verdicts) {
    auto row = std::find_if(rows.begin(), rows.end(), [&](const SummaryRow& candidate) {
      return candidate.op == verdict.op && candidate.layout == verdict.layout;
    });
    if (row == rows.end()) row = rows.insert(row, {verdict.op, verdict.layout, {}});
    row->verdicts.push_back(&verdict);
  }
  return rows;
}

std::string outcome_text(const Verdict& verdict) {
  return verdict.outcome == Outcome::Fail ? "FAIL" : std::string(to_string(verdict.outcome));
}

std::string error_text(const Verdict& verdict) {
  if (verdict.tolerance <= 0) return {};
  if (!std::isfinite(verdict.error)) return fmt::format(" inf/{:.0e}", verdict.tolerance);
  return fmt::format(" {:.0e}/{:.0e}", verdict.error, verdict.tolerance);
}

/// The device's time relative to the CPU's, over the verdicts with both; empty if there are none.
std::string speed_text(const std::vector<const Verdict*>& verdicts) {
  double device = 0, cpu = 0;
  for (const auto* verdict : verdicts) {
    if (verdict->cpu_ms <= 0) continue;
    device += verdict->device_ms;
    cpu += verdict->cpu_ms;
  }
  if (device <= 0) return {};
  return device > cpu ? fmt::format("\nslower than CPU {:.1f}x", device / cpu)
                      : fmt::format("\n{:.1f}x CPU speed", cpu / device);
}

std::string cell_of(const SummaryRow& row, DType dtype) {
  std::vector<const Verdict*> of_dtype;
  const bool first = dtype == kColumns.front();
  for (const auto* verdict : row.verdicts) {
    const bool has_column =
        std::find(kColumns.begin(), kColumns.end(), verdict->dtype) != kColumns.end();
    if (verdict->dtype == dtype || (first && !has_column)) of_dtype.push_back(verdict);
  }
  const auto* worst = worst_of(of_dtype);
  if (worst == nullptr) return {};
  const auto prefix = worst->dtype == dtype ? "" : fmt::format("{} ", to_string(worst->dtype));
  return prefix + outcome_text(*worst) + error_text(*worst) + speed_text(of_dtype);
}

std::string time_text(double milliseconds) {
  return milliseconds > 0 ? fmt::format("{:.3g}", milliseconds) : std::string();
}

}  // namespace

Counts count(const Report& report) {
  Counts counts;
  for (const auto& verdict : report.verdicts) {
    switch (verdict.outcome) {
      case Outcome::Pass:
        ++counts.passed;
        break;
      case Outcome::Fail:
        ++counts.failed;
        break;
      case Outcome::Refused:
        ++counts.refused;
        break;
      case Outcome::Skipped:
        ++counts.skipped;
        break;
    }
    if (verdict.slower_than_cpu()) ++counts.slower_than_cpu;
  }
  return counts;
}

std::string summary_table(const Report& report) {
  Table table({"Op", "Layout", "f32", "bf16", "f16"});
  const auto rows = rows_of(report);
  for (const auto& row : rows) {
    const auto same_op = std::count_if(rows.begin(), rows.end(),
                                       [&](const auto& other) { return other.op == row.op; });
    std::vector<std::string> cells = {row.op,
                                      same_op > 1 ? std::string(to_string(row.layout)) : ""};
    for (const auto dtype : kColumns) cells.push_back(cell_of(row, dtype));
    table.add_row(std::move(cells));
  }
  return table.to_text();
}

std::string full_table(const Report& report) {
  Table table({"Probe", "Result", "Error", "Allowed", "ms", "CPU ms", "Detail"});
  table.limit_width(6, 60);
  for (const auto& verdict : report.verdicts) {
    const bool compared = verdict.tolerance > 0 || verdict.error > 0;
    table.add_row({verdict.id,
                   verdict.slower_than_cpu() ? outcome_text(verdict) + ", slower than CPU"
                                             : outcome_text(verdict),
                   compared ? fmt::format("{:.1e}", verdict.error) : "",
                   compared ? fmt::format("{:.1e}", verdict.tolerance) : "",
                   time_text(verdict.device_ms), time_text(verdict.cpu_ms), verdict.detail});
  }
  return table.to_text();
}

std::vector<std::string> failures(const Report& report) {
  std::vector<std::string> lines;
  for (const auto& verdict : report.verdicts) {
    if (verdict.outcome != Outcome::Fail) continue;
    lines.push_back(fmt::format("{}: {}", verdict.id, verdict.detail));
  }
  return lines;
}

std::string closing_line(const Report& report) {
  const auto counts = count(report);
  auto line =
      fmt::format("{} passed, {} failed, {} refused", counts.passed, counts.failed, counts.refused);
  if (counts.skipped > 0) line += fmt::format(", {} skipped", counts.skipped);
  if (counts.slower_than_cpu > 0) {
    line += fmt::format(", {} slower than the CPU", counts.slower_than_cpu);
  }
  return line;
}

}  // namespace ubique::probe
