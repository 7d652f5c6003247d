// SPDX-License-Identifier: Apache-2.0
// Cache keys, reading, merging and storing of reports.
#include "ubique/probe/cache.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <unordered_map>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/json.h"
#include "ubique/probe/core/crash_note.h"
#include "ubique/probe/report/record.h"

namespace ubique::probe {
namespace {

namespace fs = std::filesystem;

constexpr int kCacheVersion = 1;

/// The configuration of a pretend device: its variable, and the file if the variable names one.
std::string pretend_configuration(const std::string& backend) {
  std::string variable = "UBIQUE_";
  for (const char letter : backend) variable += static_cast<char>(std::toupper(letter));
  const char* value = std::getenv(variable.c_str());
  if (value == nullptr) return {};
  const std::string text = value;
  const fs::path file = text.starts_with("@") ? text.substr(1) : text;
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return text;
  return fmt::format("{}: {}", text, read_file(file, 1 << 20));
}

std::string file_stem(const std::string& name) {
  std::string stem;
  for (const char letter : name) {
    const bool plain = (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
                       (letter >= 'A' && letter <= 'Z');
    if (plain)
      stem += letter;
    else if (!stem.empty() && stem.back() != '-')
      stem += '-';
  }
  return stem.substr(0, 40);
}

fs::path crash_note_path(const device::Facts& facts) {
  return cache_path(facts).replace_extension(".crashed");
}

void warn_unwritable(const std::string& reason) {
  log::warn_once("probe.cache.write",
                 fmt::format("[probe.cache] verdicts are not kept between runs: {} Set "
                             "UBIQUE_CACHE_DIR to a folder that can be written.",
                             reason));
}

/// True if the folder exists or could be made; else warns.
bool prepare_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) warn_unwritable(fmt::format("{}: {}.", folder.string(), error.message()));
  return !error;
}

/// The verdicts of these probes, in their order.
Report arrange(Report base, const std::vector<Probe>& probes, const Report& old,
               const Report& fresh) {
  std::unordered_map<std::string, const Verdict*> by_id;
  for (const auto& verdict : old.verdicts) by_id[verdict.id] = &verdict;
  for (const auto& verdict : fresh.verdicts) by_id[verdict.id] = &verdict;
  for (const auto& probe : probes) base.verdicts.push_back(*by_id.at(probe.id()));
  return base;
}

}  // namespace

std::string cache_key(const device::Facts& facts) {
  auto key = fmt::format("torch {}; os {}; driver {}; chip {}; device {}; backend {}; probes {}",
                         facts.torch_version, facts.os_version, facts.driver, facts.chip,
                         facts.name, facts.backend, kProbeVersion);
  if (facts.pretend) key += "; " + pretend_configuration(facts.backend);
  return key;
}

fs::path cache_path(const device::Facts& facts) {
  const auto stem = file_stem(facts.backend + "-" + facts.name);
  return cache_folder() / "probes" /
         fmt::format("{}-{:016x}.json", stem, name_hash(cache_key(facts)));
}

std::optional<Report> load_cached_report(const device::Facts& facts) {
  const auto path = cache_path(facts);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  try {
    const auto document = parse_json(read_file(path, 16 << 20), path.string());
    check(document.is_object() && document.value("schema_version", 0) == kCacheVersion,
          ErrorKind::Input, "[probe.cache] {} has another format.", path.string());
    if (document.value("key", "") != cache_key(facts))
      return std::nullopt;  // same hash, another key
    auto report = take_report(document, path.string());
    report.from_cache = true;
    return report;
  } catch (const Error& error) {
    log::warn_once("probe.cache.damaged", fmt::format("[probe.cache] kept verdicts are ignored and "
                                                      "will be replaced: {}",
                                                      error.what()));
  } catch (const Json::exception& error) {
    log::warn_once("probe.cache.damaged", fmt::format("[probe.cache] kept verdicts are ignored and "
                                                      "will be replaced: {}",
                                                      error.what()));
  }
  return std::nullopt;
}

void store_report(const device::Facts& facts, const Report& report) {
  const auto path = cache_path(facts);
  if (!prepare_folder(path.parent_path())) return;
  auto kept = report;
  std::erase_if(kept.verdicts, worth_retrying);
  auto document = json_document("probe_cache", kCacheVersion);
  document["key"] = cache_key(facts);
  put_report(document, kept);
  try {
    write_file(path, document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  } catch (const Error& error) {
    warn_unwritable(error.what());
  }
}

Report merge(Report old, const Report& fresh) {
  std::unordered_map<std::string, std::size_t> index_of;
  for (std::size_t i = 0; i < old.verdicts.size(); ++i) index_of[old.verdicts[i].id] = i;
  for (const auto& verdict : fresh.verdicts) {
    const auto found = index_of.find(verdict.id);
    if (found == index_of.end()) {
      old.verdicts.push_back(verdict);
    } else {
      old.verdicts[found->second] = verdict;
    }
  }
  old.seconds += fresh.seconds;
  return old;
}

Report recall_or_run(const device::Facts& facts, c10::Device device,
                     const std::vector<Probe>& probes, RunOptions options, bool refresh) {
  const auto note = crash_note_path(facts);
  std::error_code ignored;
  if (refresh) fs::remove(note, ignored);
  const auto known = load_cached_report(facts).value_or(empty_report(facts));
  std::vector<Probe> missing;
  for (const auto& probe : probes) {
    const auto* verdict = known.find(probe.id());
    const bool untimed = verdict != nullptr && options.timing && lacks_time(probe, *verdict);
    if (refresh || verdict == nullptr || untimed) missing.push_back(probe);
  }
  auto base = empty_report(facts);
  base.from_cache = missing.empty();
  if (missing.empty()) {
    base.seconds = known.seconds;
    return arrange(std::move(base), probes, known, {});
  }
  options.crashed.merge(read_crash_note(note));
  if (fs::exists(note.parent_path(), ignored) || prepare_folder(note.parent_path())) {
    options.crash_note = note;
  }
  const auto fresh = run_probes(facts, device, missing, options);
  store_report(facts, merge(known, fresh));
  fs::remove(note, ignored);  // its contents are in the report now
  base.seconds = fresh.seconds;
  return arrange(std::move(base), probes, known, fresh);
}

}  // namespace ubique::probe
