// SPDX-License-Identifier: Apache-2.0
// ubique inspect: what is inside a safetensors file, an index or a folder of them. Opens no device
// and loads no tensor unless --stats asks for its values.
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "ubique/base/terminal/log.h"
#include "ubique/base/terminal/table.h"
#include "ubique/base/text/text.h"
#include "ubique/cli/verb.h"
#include "ubique/io/tensors/safetensors_set.h"
#include "ubique/io/tensors/tensor_stats.h"
#include "ubique/io/text/printable.h"

namespace ubique::cli {
namespace {

using io::SafetensorsSet;
using io::TensorInfo;
using io::TensorStats;

struct InspectOptions {
  std::string path, filter, metadata_key, sort = "file";
  bool stats = false;
  std::shared_ptr<CommonFlags> common;
};

struct DTypeShare {
  std::int64_t tensors = 0, parameters = 0;
  std::uint64_t bytes = 0;
};

struct InspectTotals {
  std::uint64_t file_bytes = 0, tensor_bytes = 0;
  std::int64_t parameters = 0;
  std::map<DType, DTypeShare> dtypes;
};

InspectTotals count_totals(const SafetensorsSet& set) {
  InspectTotals totals;
  for (const auto& file : set.files()) totals.file_bytes += file.size();
  for (const auto& tensor : set.tensors()) {
    const auto elements = io::element_count(tensor.shape).value_or(0);
    auto& share = totals.dtypes[tensor.dtype];
    ++share.tensors;
    share.parameters += elements;
    share.bytes += tensor.size();
    totals.parameters += elements;
    totals.tensor_bytes += tensor.size();
  }
  return totals;
}

std::vector<const TensorInfo*> select_tensors(const SafetensorsSet& set,
                                              const InspectOptions& options) {
  std::vector<const TensorInfo*> chosen;
  for (const auto& tensor : set.tensors()) {
    const bool wanted =
        options.filter.empty() || ::fnmatch(options.filter.c_str(), tensor.name.c_str(), 0) == 0;
    if (wanted) chosen.push_back(&tensor);
  }
  if (options.sort == "name") {
    std::sort(chosen.begin(), chosen.end(),
              [](const auto* a, const auto* b) { return a->name < b->name; });
  } else if (options.sort == "size") {
    std::stable_sort(chosen.begin(), chosen.end(),
                     [](const auto* a, const auto* b) { return a->size() > b->size(); });
  }
  return chosen;
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
    if (json.is_object()) text += Json(key).dump() + ": ";
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
  for (std::string line; std::getline(stream, line);) lines.push_back(io::printable(line));
  if (lines.empty()) lines.emplace_back();
  if (lines.size() > kMostLines) {
    const auto more = lines.size() - kMostLines;
    lines.resize(kMostLines);
    lines.push_back(fmt::format("… {} more lines; --metadata KEY shows them all", more));
  }
  return lines;
}

std::string metadata_text(const io::Metadata& metadata) {
  std::string text;
  for (const auto& [key, value] : metadata) {
    const auto lines = value_lines(value);
    const auto name = io::printable(key);
    text += fmt::format("{:<12}{} = {}\n", text.empty() ? "metadata" : "", name, lines.front());
    for (std::size_t i = 1; i < lines.size(); ++i) text += fmt::format("{:<12}{}\n", "", lines[i]);
  }
  return text;
}

std::string summary_text(const SafetensorsSet& set, const InspectTotals& totals,
                         const InspectOptions& options) {
  std::string text = fmt::format("{:<12}{}\n", "path", options.path);
  if (set.files().size() > 1) text += fmt::format("{:<12}{}\n", "files", set.files().size());
  text += fmt::format("{:<12}{} ({} bytes)\n", "size", bytes_text(totals.file_bytes),
                      grouped(static_cast<std::int64_t>(totals.file_bytes)));
  text += fmt::format("{:<12}{}\n{:<12}{}\n", "tensors",
                      grouped(static_cast<std::int64_t>(set.tensors().size())), "parameters",
                      grouped(totals.parameters));
  std::vector<std::string> parts;
  for (const auto& [dtype, share] : totals.dtypes) {
    parts.push_back(
        fmt::format("{} {} in {}", grouped(share.parameters), to_string(dtype),
                    share.tensors == 1 ? "1 tensor" : grouped(share.tensors) + " tensors"));
  }
  if (!parts.empty()) text += fmt::format("{:<12}{}\n", "dtypes", join(parts, ", "));
  return text + metadata_text(set.metadata());
}

std::string stat_text(std::optional<double> value) {
  return value ? fmt::format("{:.6g}", *value) : "-";
}

std::string tensor_table(const SafetensorsSet& set, const std::vector<const TensorInfo*>& tensors,
                         bool with_stats) {
  const bool several = set.files().size() > 1;
  std::vector<std::string> header = {"name", "dtype", "shape", "size"};
  if (several) header.emplace_back("file");
  if (with_stats) header.insert(header.end(), {"min", "max", "mean", "std", "nan", "inf"});
  Table table(header);
  for (const auto* tensor : tensors) {
    std::vector<std::string> row = {io::printable(tensor->name),
                                    std::string(to_string(tensor->dtype)),
                                    io::shape_text(tensor->shape), bytes_text(tensor->size())};
    if (several) {
      row.push_back(std::filesystem::path(set.file_of(*tensor).name()).filename().string());
    }
    if (with_stats) {
      if (const auto stats = set.stats(*tensor)) {
        row.insert(row.end(), {stat_text(stats->min), stat_text(stats->max), stat_text(stats->mean),
                               stat_text(stats->std), std::to_string(stats->nan),
                               std::to_string(stats->infinite)});
      }
    }
    table.add_row(std::move(row));
  }
  return table.empty() ? "" : "\n" + table.to_text();
}

Json stats_json(const TensorStats& stats) {
  const auto number = [](std::optional<double> value) { return value ? Json(*value) : Json(); };
  return {{"min", number(stats.min)}, {"max", number(stats.max)}, {"mean", number(stats.mean)},
          {"std", number(stats.std)}, {"nan", stats.nan},         {"inf", stats.infinite}};
}

Json tensor_json(const SafetensorsSet& set, const TensorInfo& tensor, bool with_stats) {
  Json json = {{"name", tensor.name},
               {"dtype", to_string(tensor.dtype)},
               {"shape", Json(tensor.shape)},
               {"bytes", tensor.size()},
               {"data_offsets", {tensor.begin, tensor.end}},
               {"file", set.file_of(tensor).name()}};
  if (!with_stats) return json;
  const auto stats = set.stats(tensor);
  json["stats"] = stats ? stats_json(*stats) : Json();
  return json;
}

Json inspect_json(const SafetensorsSet& set, const std::vector<const TensorInfo*>& tensors,
                  const InspectTotals& totals, const InspectOptions& options) {
  auto json = json_document("inspect", 1);
  json["path"] = options.path;
  json["files"] = Json::array();
  for (const auto& file : set.files()) json["files"].push_back(file.name());
  json["bytes"] = totals.file_bytes;
  json["tensor_count"] = set.tensors().size();
  json["parameters"] = totals.parameters;
  json["dtypes"] = Json::object();
  for (const auto& [dtype, share] : totals.dtypes) {
    json["dtypes"][std::string(to_string(dtype))] = {
        {"tensors", share.tensors}, {"parameters", share.parameters}, {"bytes", share.bytes}};
  }
  Json::object_t metadata;  // appended in order: a look-up per key would take quadratic time
  for (const auto& [key, value] : set.metadata()) metadata.emplace_back(key, value);
  json["metadata"] = std::move(metadata);
  json["tensors"] = Json::array();
  for (const auto* tensor : tensors) {
    json["tensors"].push_back(tensor_json(set, *tensor, options.stats));
  }
  return json;
}

void print_metadata_value(const SafetensorsSet& set, const std::string& key) {
  const auto found = set.metadata().find(key);
  if (found == set.metadata().end()) {
    std::vector<std::string> keys;
    for (const auto& [name, value] : set.metadata()) keys.push_back(io::printable(name, 40));
    fail(ErrorKind::Usage, "[cli.inspect] no metadata of that name; got '{}', expected {}.{}", key,
         keys.empty() ? "none, for the file has no metadata" : "one of " + join(keys, ", "),
         hint(key, keys));
  }
  print_out(found->second + "\n");
}

ExitCode run_inspect(const InspectOptions& options) {
  const SafetensorsSet set(options.path);
  if (!options.metadata_key.empty()) {
    print_metadata_value(set, options.metadata_key);
    return ExitCode::Ok;
  }
  const auto totals = count_totals(set);
  const auto tensors = select_tensors(set, options);
  if (set.stated_size().value_or(totals.tensor_bytes) != totals.tensor_bytes) {
    log::warn("the index says that the tensors take {} bytes; they take {}", *set.stated_size(),
              totals.tensor_bytes);
  }
  if (options.common->json) {
    print_json(inspect_json(set, tensors, totals, options));
    return ExitCode::Ok;
  }
  auto text = summary_text(set, totals, options);
  if (!options.filter.empty()) {
    text += fmt::format("{:<12}{} of {} match '{}'\n", "shown", tensors.size(),
                        set.tensors().size(), options.filter);
  }
  print_out(text + tensor_table(set, tensors, options.stats));
  return ExitCode::Ok;
}

}  // namespace

Verb inspect_verb() {
  Verb verb;
  verb.name = "inspect";
  verb.summary = "show the tensors and metadata of a model file";
  verb.description =
      "Reads a .safetensors file, an index (model.safetensors.index.json) or a folder with one of "
      "these. Only the header is read, so that even a very large file answers at once; --stats "
      "reads the tensors shown. A file that is damaged or of another kind is named as such, with "
      "exit code 3.";
  verb.examples = {
      {"ubique inspect model.safetensors", "summary and table of tensors"},
      {"ubique inspect model/ --filter '*.weight' --sort size", "the largest weights first"},
      {"ubique inspect model.safetensors --stats", "with smallest, largest, mean, spread, NaN"},
      {"ubique inspect model.safetensors --metadata config", "one value, as it is in the file"},
  };
  verb.setup = [](CLI::App& app) -> std::function<ExitCode()> {
    auto options = std::make_shared<InspectOptions>();
    app.add_option("path", options->path, "file, index or folder")->required()->type_name("PATH");
    app.add_option("--filter", options->filter, "show only names that match, e.g. '*.bias'")
        ->type_name("GLOB");
    app.add_option("--sort", options->sort, "file (as it lies there), name, size (largest first)")
        ->check(CLI::IsMember({"file", "name", "size"}))
        ->capture_default_str();
    app.add_flag("--stats", options->stats, "read the values: min, max, mean, std, NaN, infinite");
    app.add_option("--metadata", options->metadata_key, "print one metadata value and nothing else")
        ->type_name("KEY");
    options->common = add_common_flags(app, /*with_device=*/false);
    return [options] { return run_inspect(*options); };
  };
  return verb;
}

}  // namespace ubique::cli
