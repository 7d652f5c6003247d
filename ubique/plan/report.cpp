// SPDX-License-Identifier: Apache-2.0
// Tables, the explanation and JSON, all from one list of fields.
#include "ubique/plan/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ubique/base/terminal/table.h"
#include "ubique/base/text/text.h"

namespace ubique::plan {
namespace {

std::string value_of(bool value) { return value ? "on" : "off"; }
std::string value_of(int value) { return std::to_string(value); }
std::string value_of(std::int64_t value) { return std::to_string(value); }
std::string value_of(const std::string& value) { return value; }
std::string value_of(DType value) { return std::string(to_string(value)); }
std::string value_of(probe::Layout value) { return std::string(to_string(value)); }
std::string value_of(Attention value) { return std::string(to_string(value)); }
std::string value_of(Shard value) { return std::string(to_string(value)); }

template <typename T>
Json json_of(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return value_of(value);
  } else {
    return value;
  }
}

template <typename T>
Field field_of(const char* key, const Choice<T>& choice) {
  return {key, value_of(choice.value), json_of(choice.value), choice.reason, choice.rejected};
}

Json rejected_json(const std::vector<Rejected>& rejected) {
  Json list = Json::array();
  for (const auto& item : rejected) list.push_back({{"option", item.option}, {"why", item.why}});
  return list;
}

struct MemoryRow {
  const char* key;
  std::int64_t bytes;
};

std::vector<MemoryRow> memory_rows(const MemoryParts& memory) {
  std::vector<MemoryRow> rows = {{"weights", memory.weights},
                                 {"gradients", memory.gradients},
                                 {"optimizer", memory.optimizer},
                                 {"activations", memory.activations}};
  if (memory.kv_cache > 0) rows.push_back({"kv_cache", memory.kv_cache});
  rows.insert(
      rows.end(),
      {{"workspace", memory.workspace}, {"total", memory.total}, {"budget", memory.budget}});
  return rows;
}

std::string floor_text(double ms) {
  if (ms <= 0) return "unknown";
  return ms < 1000 ? fmt::format("{:.3g} ms", ms) : fmt::format("{:.3g} s", ms / 1000);
}

std::string workaround_text(const Plan& plan) {
  std::vector<std::string> ids;
  for (const auto& item : plan.workarounds) ids.push_back(item.id);
  return ids.empty() ? "none" : join(ids, "\n");
}

/// "240 seconds", "31 of 240 seconds".
std::string longest_text(const Longest& longest) {
  const auto most = fmt::format("{:g} {}", longest.most, longest.unit);
  return longest.fits < std::floor(longest.most) ? fmt::format("{:g} of {}", longest.fits, most)
                                                 : most;
}

bool has_length(const Plan& plan) { return !plan.longest.unit.empty(); }

/// Labels and values of everything a table shows about one plan.
std::vector<std::pair<std::string, std::string>> table_cells(const Plan& plan) {
  std::vector<std::pair<std::string, std::string>> cells;
  for (const auto& field : fields(plan)) cells.emplace_back(field.key, field.text);
  cells.emplace_back("workarounds", workaround_text(plan));
  for (const auto& row : memory_rows(plan.memory)) {
    cells.emplace_back(std::string("memory.") + row.key, human_bytes(row.bytes));
  }
  if (has_length(plan)) cells.emplace_back("longest", longest_text(plan.longest));
  cells.emplace_back("compute_floor", floor_text(plan.floor_ms));
  return cells;
}

}  // namespace

std::vector<Field> fields(const Plan& plan) {
  std::vector<Field> fields = {
      field_of("device", plan.device),
      field_of("dtype", plan.dtype),
      field_of("autocast", plan.autocast),
      field_of("grad_scaler", plan.grad_scaler),
      field_of("memory_format", plan.memory_format),
      field_of("attention", plan.attention),
      field_of("micro_batch", plan.micro_batch),
      field_of("accumulation", plan.accumulation),
      field_of("effective_batch", plan.effective_batch),
      field_of("checkpointing", plan.checkpointing),
      field_of("pad_channels", plan.pad_channels),
      field_of("fused_kernels", plan.fused_kernels),
      field_of("graph_capture", plan.graph_capture),
      field_of("pinned_memory", plan.pinned_memory),
      field_of("non_blocking", plan.non_blocking),
      field_of("prefetch_threads", plan.prefetch_threads),
      field_of("compute_threads", plan.compute_threads),
      field_of("tf32", plan.tf32),
      field_of("deterministic", plan.deterministic),
      field_of("autotune", plan.autotune),
      field_of("clear_cache", plan.clear_cache),
      field_of("distributed", plan.distributed),
  };
  if (plan.distributed.value != "none") fields.push_back(field_of("shard", plan.shard));
  if (has_length(plan)) fields.push_back(field_of("parts_in_turn", plan.in_turn));
  return fields;
}

Attempt attempt_plan(const device::Facts& facts, const probe::Report& report, const Needs& needs,
                     const Wishes& wishes) {
  Attempt attempt;
  attempt.machine = facts.profile.empty() ? facts.label() : facts.profile;
  try {
    attempt.plan = make_plan(facts, report, needs, wishes);
  } catch (const DoesNotFit& error) {
    attempt.short_reason = fmt::format("does not fit: needs {}, has {}",
                                       human_bytes(error.needed()), human_bytes(error.budget()));
    attempt.error = error.what();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Device) throw;
    attempt.error = error.what();
    const auto end = attempt.error.find(']');  // without the tag in brackets
    const auto body = end == std::string::npos ? attempt.error : attempt.error.substr(end + 1);
    attempt.short_reason = fmt::format("not possible: {}", trim(body));
  }
  return attempt;
}

Json to_json(const Plan& plan) {
  Json json;
  json["machine"] = plan.machine;
  json["profile"] = plan.profile;
  json["needs"] = plan.needs;
  json["segments"] = plan.segments;
  json["mode"] = to_string(plan.mode);
  for (const auto& field : fields(plan)) {
    json["choices"][field.key] = {{"value", field.value},
                                  {"reason", field.reason},
                                  {"rejected", rejected_json(field.rejected)}};
  }
  json["workarounds"] = Json::array();
  for (const auto& item : plan.workarounds) {
    json["workarounds"].push_back({{"id", item.id}, {"why", item.why}});
  }
  for (const auto& row : memory_rows(plan.memory)) json["memory"][row.key] = row.bytes;
  json["memory"]["fits"] = plan.memory.fits;
  json["memory"]["budget_reason"] = plan.budget_reason;
  if (has_length(plan)) {
    json["longest"] = {
        {"unit", plan.longest.unit}, {"most", plan.longest.most}, {"fits", plan.longest.fits}};
  }
  json["compute_floor_ms"] = plan.floor_ms > 0 ? Json(plan.floor_ms) : Json();
  return json;
}

Json to_json(const Attempt& attempt) {
  Json json;
  json["machine"] = attempt.machine;
  json["possible"] = attempt.plan.has_value();
  json["error"] = attempt.plan ? Json() : Json(attempt.error);
  json["plan"] = attempt.plan ? to_json(*attempt.plan) : Json();
  return json;
}

std::string side_by_side(const std::vector<Attempt>& attempts) {
  std::vector<std::string> header = {""};
  std::vector<std::vector<std::pair<std::string, std::string>>> columns;
  std::size_t rows = 0;
  for (const auto& attempt : attempts) {
    header.push_back(attempt.machine);
    columns.push_back(attempt.plan ? table_cells(*attempt.plan)
                                   : std::vector<std::pair<std::string, std::string>>{
                                         {"", attempt.short_reason}});
    rows = std::max(rows, columns.back().size());
  }
  Table table(header);
  for (std::size_t column = 1; column <= attempts.size(); ++column) table.limit_width(column, 28);
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<std::string> cells = {""};
    for (const auto& column : columns) {
      cells.push_back(row < column.size() ? column[row].second : "");
      if (row < column.size() && cells[0].empty()) cells[0] = column[row].first;
    }
    table.add_row(std::move(cells));
  }
  return table.to_text();
}

std::string one_row_each(const std::vector<Attempt>& attempts) {
  const bool lengths = std::ranges::any_of(
      attempts, [](const Attempt& attempt) { return attempt.plan && has_length(*attempt.plan); });
  std::vector<std::string> header = {"machine",       "dtype",  "layout", "attention", "batch",
                                     "checkpointing", "memory", "budget", "floor"};
  if (lengths) header.emplace_back("longest");
  Table table(header);
  std::string impossible;
  for (const auto& attempt : attempts) {
    if (!attempt.plan) {
      impossible += fmt::format("{}: {}\n", attempt.machine, attempt.short_reason);
      continue;
    }
    const auto& plan = *attempt.plan;
    std::vector<std::string> row = {
        attempt.machine,
        value_of(plan.dtype.value),
        value_of(plan.memory_format.value),
        value_of(plan.attention.value),
        fmt::format("{} x {}", plan.micro_batch.value, plan.accumulation.value),
        value_of(plan.checkpointing.value),
        human_bytes(plan.memory.total),
        human_bytes(plan.memory.budget),
        floor_text(plan.floor_ms)};
    if (lengths) row.push_back(longest_text(plan.longest));
    table.add_row(std::move(row));
  }
  return (table.empty() ? "" : table.to_text()) +
         (impossible.empty() || table.empty() ? "" : "\n") + impossible;
}

std::string device_line(const Plan& plan, const Wishes& wishes) {
  auto line = plan.machine;
  const int threads = plan.compute_threads.value;
  if (threads > 0) line += fmt::format(", {} thread{}", threads, threads == 1 ? "" : "s");
  line += fmt::format(", {}: {}", to_string(plan.dtype.value), plan.dtype.reason);
  if (is_half(plan.dtype.value) && !wishes.dtype) {
    line += "; --dtype f32 gives the reference's numbers";
  }
  return line;
}

std::string explain(const Plan& plan) {
  std::string text =
      fmt::format("{} ({}) on {}\n\n", plan.needs, to_string(plan.mode), plan.machine);
  Table table({"choice", "value", "why, and what was rejected"});
  table.limit_width(2, 76);
  for (const auto& field : fields(plan)) {
    std::string why = field.reason;
    for (const auto& item : field.rejected) why += fmt::format("\n- {}: {}", item.option, item.why);
    table.add_row({field.key, field.text, why});
  }
  for (const auto& item : plan.workarounds) table.add_row({"workaround", item.id, item.why});
  for (const auto& row : memory_rows(plan.memory)) {
    const bool budget = std::string_view(row.key) == "budget";
    table.add_row({std::string("memory.") + row.key, human_bytes(row.bytes),
                   budget ? plan.budget_reason : "predicted"});
  }
  if (has_length(plan)) {
    table.add_row({"longest", longest_text(plan.longest),
                   "that fits at this batch, its parts in memory one after the other"});
  }
  table.add_row({"compute_floor", floor_text(plan.floor_ms),
                 plan.floor_ms > 0 ? "arithmetic of one update at the datasheet's peak rate"
                                   : "no peak rate known for this dtype"});
  return text + table.to_text();
}

}  // namespace ubique::plan
