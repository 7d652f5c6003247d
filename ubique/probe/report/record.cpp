// SPDX-License-Identifier: Apache-2.0
// Writes and reads reports, with a check of every field.
#include "ubique/probe/report/record.h"

#include <cmath>
#include <limits>
#include <set>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"

namespace ubique::probe {
namespace {

constexpr int kRecordVersion = 1;
constexpr std::int64_t kLongestRecord = 16 << 20;

Json verdict_json(const Verdict& verdict) {
  Json row = {{"id", verdict.id},
              {"op", verdict.op},
              {"dtype", to_string(verdict.dtype)},
              {"layout", to_string(verdict.layout)},
              {"gradient", verdict.gradient},
              {"outcome", to_string(verdict.outcome)},
              {"error", verdict.error},
              {"tolerance", verdict.tolerance}};
  if (!std::isfinite(verdict.error)) row["error"] = nullptr;
  if (verdict.device_ms > 0) row["device_ms"] = verdict.device_ms;
  if (verdict.cpu_ms > 0) row["cpu_ms"] = verdict.cpu_ms;
  if (!verdict.detail.empty()) row["detail"] = verdict.detail;
  return row;
}

/// Typed reading of one JSON object; every error names the object and the key.
class Reader {
 public:
  Reader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    check(object.is_object(), ErrorKind::Input, "[probe.record] {} is {}, expected an object.",
          where_, object.type_name());
  }

  std::string text(const char* key) const {
    const auto& value = require(key);
    if (!value.is_string()) wrong(key, value, "text");
    return value.get<std::string>();
  }
  std::string text_or_empty(const char* key) const {
    return object_.contains(key) ? text(key) : std::string();
  }
  bool flag(const char* key) const {
    const auto& value = require(key);
    if (!value.is_boolean()) wrong(key, value, "true or false");
    return value.get<bool>();
  }
  double number(const char* key) const {
    const auto& value = require(key);
    if (!value.is_number() || !(value.get<double>() >= 0)) {
      wrong(key, value, "a number that is not negative");
    }
    return value.get<double>();
  }
  double number_or_zero(const char* key) const { return object_.contains(key) ? number(key) : 0; }
  double number_or_infinite(const char* key) const {
    return require(key).is_null() ? std::numeric_limits<double>::infinity() : number(key);
  }
  const Json& require(const char* key) const {
    check(object_.contains(key), ErrorKind::Input, "[probe.record] {} has no '{}'.", where_, key);
    return object_.at(key);
  }
  [[noreturn]] void wrong(const char* key, const Json& value, const char* expected) const {
    auto got = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (got.size() > 60) got = got.substr(0, 60) + "...";
    fail(ErrorKind::Input, "[probe.record] '{}' of {} is wrong; got {}, expected {}.", key, where_,
         got, expected);
  }

 private:
  const Json& object_;
  std::string where_;
};

Outcome take_outcome(const Reader& reader) {
  const auto text = reader.text("outcome");
  for (const auto outcome : {Outcome::Pass, Outcome::Fail, Outcome::Refused, Outcome::Skipped}) {
    if (text == to_string(outcome)) return outcome;
  }
  reader.wrong("outcome", text, "pass, fail, refused or skipped");
}

Layout take_layout(const Reader& reader) {
  const auto text = reader.text("layout");
  for (const auto layout : {Layout::Contiguous, Layout::ChannelsLast}) {
    if (text == to_string(layout)) return layout;
  }
  reader.wrong("layout", text, "contiguous or channels_last");
}

DType take_dtype(const Reader& reader) {
  const auto text = reader.text("dtype");
  const auto dtype = parse_dtype(text);
  if (!dtype || !is_floating(*dtype)) reader.wrong("dtype", text, "f16, bf16, f32 or f64");
  return *dtype;
}

Verdict take_verdict(const Json& row, const std::string& where) {
  const Reader reader(row, where);
  Verdict verdict;
  verdict.id = reader.text("id");
  verdict.op = reader.text("op");
  if (verdict.op.empty() || !verdict.id.starts_with(verdict.op)) {
    reader.wrong("id", verdict.id, "a name that starts with the op");
  }
  verdict.dtype = take_dtype(reader);
  verdict.layout = take_layout(reader);
  verdict.gradient = reader.flag("gradient");
  verdict.outcome = take_outcome(reader);
  verdict.error = reader.number_or_infinite("error");
  verdict.tolerance = reader.number("tolerance");
  verdict.device_ms = reader.number_or_zero("device_ms");
  verdict.cpu_ms = reader.number_or_zero("cpu_ms");
  verdict.detail = reader.text_or_empty("detail");
  return verdict;
}

/// Error messages of the framework may quote paths of the machine: they become "<path>".
std::string without_paths(const std::string& text) {
  std::string kept;
  for (std::size_t start = 0; start < text.size();) {
    auto end = text.find_first_of(" \t\n\"'()", start);
    if (end == std::string::npos) end = text.size();
    const auto word = text.substr(start, end - start);
    const bool is_path = word.starts_with("/") || word.starts_with("~/") ||
                         word.find(":\\") != std::string::npos ||
                         word.find("/..") != std::string::npos;
    kept += is_path && word.size() > 1 ? "<path>" : word;
    if (end < text.size()) kept += text[end];
    start = end + 1;
  }
  return kept;
}

}  // namespace

void put_report(Json& document, const Report& report) {
  document["device"] = report.device;
  document["backend"] = report.backend;
  document["chip"] = report.chip;
  document["torch_version"] = report.torch_version;
  document["os_version"] = report.os_version;
  document["driver"] = report.driver;
  document["probe_version"] = report.probe_version;
  document["seconds"] = report.seconds;
  auto& rows = document["verdicts"] = Json::array();
  for (const auto& verdict : report.verdicts) rows.push_back(verdict_json(verdict));
}

Report take_report(const Json& document, const std::string& where) {
  const Reader reader(document, where);
  Report report;
  report.device = reader.text("device");
  report.backend = reader.text("backend");
  report.chip = reader.text("chip");
  report.torch_version = reader.text("torch_version");
  report.os_version = reader.text("os_version");
  report.driver = reader.text("driver");
  const auto& version = reader.require("probe_version");
  if (!version.is_number_integer() || version < 1 || version > 1000000) {
    reader.wrong("probe_version", version, "a whole number from 1");
  }
  report.probe_version = version.get<int>();
  report.seconds = reader.number("seconds");
  const auto& rows = reader.require("verdicts");
  if (!rows.is_array()) reader.wrong("verdicts", rows, "a list");
  std::set<std::string> ids;
  for (const auto& row : rows) {
    const auto row_name = fmt::format("{}: verdict {}", where, report.verdicts.size() + 1);
    report.verdicts.push_back(take_verdict(row, row_name));
    const auto& id = report.verdicts.back().id;
    check(ids.insert(id).second, ErrorKind::Input, "[probe.record] {} appears twice in {}.", id,
          where);
  }
  return report;
}

void write_record(const std::filesystem::path& path, const Report& report) {
  auto shared = report;
  for (auto& verdict : shared.verdicts) verdict.detail = without_paths(verdict.detail);
  auto document = json_document("probe_record", kRecordVersion);
  put_report(document, shared);
  write_file(path, document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

Report read_record(const std::filesystem::path& path) {
  const auto where = path.string();
  const auto document = parse_json(read_file(path, kLongestRecord), where);
  const Reader reader(document, where);
  if (const auto schema = reader.text("schema"); schema != "ubique.probe_record") {
    reader.wrong("schema", schema, "ubique.probe_record, as doctor --share writes it");
  }
  if (const auto& version = reader.require("schema_version"); version != kRecordVersion) {
    reader.wrong("schema_version", version, "1: read it with the version of ubique that wrote it");
  }
  return take_report(document, where);
}

}  // namespace ubique::probe
