// SPDX-License-Identifier: Apache-2.0
// Rows of the summary, the table of tensors, and the same as JSON.
#include "ubique/cli/inspect/render.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "ubique/base/error.h"
#include "ubique/base/terminal/table.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique::cli {
namespace {

using io::TensorInfo;

constexpr std::size_t kLongestPath = 4096;

struct DTypeShare {
  std::int64_t tensors = 0, parameters = 0;
  std::uint64_t bytes = 0;
};

struct InspectTotals {
  std::uint64_t file_bytes = 0;
  std::int64_t parameters = 0;
  std::map<DType, DTypeShare> dtypes;
};

std::uint64_t bytes_of(const TensorInfo& tensor) {
  return static_cast<std::uint64_t>(io::byte_count(tensor.dtype, tensor.shape).value_or(0));
}

InspectTotals count_totals(const TensorTable& table) {
  InspectTotals totals;
  std::error_code ignored;
  for (const auto& file : table.files) {
    if (!std::filesystem::is_regular_file(file, ignored)) continue;
    const auto size = std::filesystem::file_size(file, ignored);
    if (!ignored) totals.file_bytes += size;
  }
  for (const auto& tensor : table.tensors) {
    const auto elements = io::element_count(tensor.shape).value_or(0);
    auto& share = totals.dtypes[tensor.dtype];
    ++share.tensors;
    share.parameters += elements;
    share.bytes += bytes_of(tensor);
    totals.parameters += elements;
  }
  return totals;
}

std::string grouped(std::int64_t number) {
  auto text = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

std::string bytes_text(std::uint64_t bytes) {
  return human_bytes(static_cast<std::int64_t>(bytes));
}

/// JSON with a line per key; lists take a line per element only if there are objects in them.
std::string spread_json(const Json& json, std::size_t indent = 0) {
  const auto is_object = [](const Json& item) { return item.is_object() && !item.empty(); };
  const bool spread =
      is_object(json) || (json.is_array() && std::any_of(json.begin(), json.end(), is_object));
  if (!spread) return json_text(json);
  std::string text(1, json.is_object() ? '{' : '[');
  for (const auto& [key, value] : json.items()) {
    text += fmt::format("{}\n{:{}}", text.size() > 1 ? "," : "", "", indent + 2);
    if (json.is_object()) text += json_text(Json(key)) + ": ";
    text += spread_json(value, indent + 2);
  }
  return text + fmt::format("\n{:{}}{}", "", indent, json.is_object() ? '}' : ']');
}

/// JSON inside a value (a config, a plan) is spread over lines; the rest is shown as it is.
std::vector<std::string> value_lines(const std::string& value) {
  constexpr std::size_t kLongestPretty = 1U << 16U, kMostLines = 40;
  std::string text = value;
  const bool json_like = value.starts_with('{') || value.starts_with('[');
  if (json_like && value.size() <= kLongestPretty && Json::accept(value)) {
    try {
      text = spread_json(parse_json(value, "metadata"));
    } catch (const Error&) {  // nested too deeply: left as it is
    }
  }
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(printable(line));
  if (lines.empty()) lines.emplace_back();
  if (lines.size() > kMostLines) {
    const auto more = lines.size() - kMostLines;
    lines.resize(kMostLines);
    lines.push_back(fmt::format("… {} more lines; --metadata KEY shows them all", more));
  }
  return lines;
}

std::string row(std::string_view name, const std::string& value) {
  return fmt::format("{:<12}{}\n", name, value);
}

std::string metadata_text(const io::Metadata& metadata) {
  std::string text;
  for (const auto& [key, value] : metadata) {
    const auto lines = value_lines(value);
    const auto name = printable(key);
    text += row(text.empty() ? "metadata" : "", fmt::format("{} = {}", name, lines.front()));
    for (std::size_t i = 1; i < lines.size(); ++i) text += row("", lines[i]);
  }
  return text;
}

/// "a, b, c", "width 320, height 240": a fact on one line, with at most so many parts.
std::string fact_text(const Json& fact) {
  constexpr std::size_t kMostParts = 16;
  if (fact.is_string()) return printable(fact.get<std::string>());
  if (fact.is_number_float()) return fmt::format("{:.6g}", fact.get<double>());
  if (!fact.is_structured()) return json_text(fact);
  std::vector<std::string> parts;
  for (const auto& [key, value] : fact.items()) {
    if (parts.size() == kMostParts) {
      parts.push_back(fmt::format("… {} more", fact.size() - kMostParts));
      break;
    }
    parts.push_back((fact.is_object() ? printable(key) + " " : "") + fact_text(value));
  }
  return parts.empty() ? "none" : join(parts, ", ");
}

std::string totals_text(const TensorTable& table, const InspectTotals& totals) {
  std::string text;
  if (table.files.size() > 1) text += row("files", std::to_string(table.files.size()));
  if (totals.file_bytes > 0) {
    text += row("size", fmt::format("{} ({} bytes)", bytes_text(totals.file_bytes),
                                    grouped(static_cast<std::int64_t>(totals.file_bytes))));
  }
  text += row("tensors", grouped(static_cast<std::int64_t>(table.tensors.size())));
  text += row("parameters", grouped(totals.parameters));
  std::vector<std::string> parts;
  for (const auto& [dtype, share] : totals.dtypes) {
    parts.push_back(
        fmt::format("{} {} in {}", grouped(share.parameters), to_string(dtype),
                    share.tensors == 1 ? "1 tensor" : grouped(share.tensors) + " tensors"));
  }
  if (!parts.empty()) text += row("dtypes", join(parts, ", "));
  return text;
}

std::string stat_text(std::optional<double> value) {
  return value ? fmt::format("{:.6g}", *value) : "-";
}

std::string tensor_table(const TensorTable& table, const std::vector<const TensorInfo*>& tensors,
                         bool with_stats) {
  const bool several = table.files.size() > 1 && table.file_of;
  std::vector<std::string> header = {"name", "dtype", "shape", "size"};
  if (several) header.emplace_back("file");
  if (with_stats) header.insert(header.end(), {"min", "max", "mean", "std", "nan", "inf"});
  Table text(header);
  for (const auto* tensor : tensors) {
    std::vector<std::string> cells = {printable(tensor->name),
                                      std::string(to_string(tensor->dtype)),
                                      io::shape_text(tensor->shape), bytes_text(bytes_of(*tensor))};
    if (several) cells.push_back(printable(table.file_of(*tensor).filename().string()));
    if (with_stats) {
      if (const auto stats = table.stats(*tensor)) {
        cells.insert(cells.end(), {stat_text(stats->min), stat_text(stats->max),
                                   stat_text(stats->mean), stat_text(stats->std),
                                   std::to_string(stats->nan), std::to_string(stats->infinite)});
      }
    }
    text.add_row(std::move(cells));
  }
  return text.empty() ? "" : "\n" + text.to_text();
}

Json stats_json(const io::TensorStats& stats) {
  const auto number = [](std::optional<double> value) { return value ? Json(*value) : Json(); };
  return {{"min", number(stats.min)}, {"max", number(stats.max)}, {"mean", number(stats.mean)},
          {"std", number(stats.std)}, {"nan", stats.nan},         {"inf", stats.infinite}};
}

Json tensor_json(const TensorTable& table, const TensorInfo& tensor, bool with_stats) {
  Json json = {{"name", tensor.name},
               {"dtype", to_string(tensor.dtype)},
               {"shape", Json(tensor.shape)},
               {"bytes", bytes_of(tensor)}};
  if (table.has_offsets) json["data_offsets"] = {tensor.begin, tensor.end};
  json["file"] = (table.file_of ? table.file_of(tensor) : table.files.front()).string();
  if (!with_stats) return json;
  const auto stats = table.stats(tensor);
  json["stats"] = stats ? stats_json(*stats) : Json();
  return json;
}

void add_table_json(const TensorTable& table, const InspectView& view, Json& json) {
  const auto totals = count_totals(table);
  json["files"] = Json::array();
  for (const auto& file : table.files) json["files"].push_back(file.string());
  json["bytes"] = totals.file_bytes;
  json["tensor_count"] = table.tensors.size();
  json["parameters"] = totals.parameters;
  json["dtypes"] = Json::object();
  for (const auto& [dtype, share] : totals.dtypes) {
    json["dtypes"][std::string(to_string(dtype))] = {
        {"tensors", share.tensors}, {"parameters", share.parameters}, {"bytes", share.bytes}};
  }
  Json::object_t metadata;  // appended in order: a look-up per key would take quadratic time
  for (const auto& [key, value] : table.metadata) metadata.emplace_back(key, value);
  json["metadata"] = std::move(metadata);
  json["tensors"] = Json::array();
  for (const auto* tensor : select_tensors(table, view)) {
    json["tensors"].push_back(tensor_json(table, *tensor, view.stats));
  }
}

}  // namespace

std::vector<const TensorInfo*> select_tensors(const TensorTable& table, const InspectView& view) {
  std::vector<const TensorInfo*> chosen;
  for (const auto& tensor : table.tensors) {
    const bool wanted =
        view.filter.empty() || ::fnmatch(view.filter.c_str(), tensor.name.c_str(), 0) == 0;
    if (wanted) chosen.push_back(&tensor);
  }
  if (view.sort == "name") {
    std::ranges::sort(chosen, {}, [](const auto* tensor) { return tensor->name; });
  } else if (view.sort == "size") {
    std::ranges::stable_sort(chosen, std::ranges::greater(),
                             [](const auto* tensor) { return bytes_of(*tensor); });
  }
  return chosen;
}

std::string finding_text(const Finding& finding, const InspectView& view) {
  auto text = row("path", printable(view.path, kLongestPath)) + row("kind", finding.kind);
  for (const auto& [name, value] : finding.facts) text += row(name, fact_text(value));
  std::string below;
  if (finding.table) {
    const auto& table = *finding.table;
    text += totals_text(table, count_totals(table)) + metadata_text(table.metadata);
    const auto tensors = select_tensors(table, view);
    if (!view.filter.empty()) {
      text += row("shown", fmt::format("{} of {} match '{}'", tensors.size(), table.tensors.size(),
                                       view.filter));
    }
    below = tensor_table(table, tensors, view.stats);
  }
  for (const auto& command : finding.next) {
    text += row(&command == finding.next.data() ? "next" : "", printable(command, kLongestPath));
  }
  return text + below;
}

Json finding_json(const Finding& finding, const InspectView& view) {
  auto json = json_document("inspect", 1);
  json["path"] = view.path;
  json["kind"] = finding.kind;
  json["facts"] = Json::object();
  for (const auto& [name, value] : finding.facts) json["facts"][name] = value;
  json["next"] = finding.next;
  if (finding.table) add_table_json(*finding.table, view, json);
  return json;
}

}  // namespace ubique::cli
