// SPDX-License-Identifier: Apache-2.0
// Finding rows, and what is kept from jobs.
#include "ubique/serve/jobs/commands.h"

#include <algorithm>
#include <array>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique::serve {
namespace {

// --python names a program to run; the others say where to write or what to go on with, which the
// queue does itself.
constexpr std::array<std::string_view, 8> kKept = {"python", "out_dir", "resume",  "resume_from",
                                                   "cache",  "presets", "dry_run", "delay"};

constexpr std::array<std::string_view, 4> kPathTypes = {"PATH", "FILE", "FOLDER", "DIR"};

std::vector<std::string> verbs_of(const std::vector<CommandRow>& rows) {
  std::vector<std::string> verbs;
  for (const auto& row : rows) verbs.push_back(row.verb);
  return verbs;
}

}  // namespace

std::string OptionRow::long_flag() const {
  for (const auto& name : split(flag, ',')) {
    if (name.starts_with("--")) return name;
  }
  return flag;
}

bool OptionRow::is_path() const {
  const auto name = type.substr(0, type.find('['));  // "PATH[,...]", "PATH[:WEIGHT]"
  return std::ranges::find(kPathTypes, name) != kPathTypes.end();
}

WeightedReference weighted_reference(const OptionRow& option, const std::string& text) {
  const auto colon = text.rfind(':');
  const bool weighted = option.type.ends_with("[:WEIGHT]") && colon != std::string::npos &&
                        parse_number(text.substr(colon + 1));
  if (!weighted) return {text, {}};
  return {text.substr(0, colon), text.substr(colon)};
}

const OptionRow* CommandRow::find(std::string_view key) const {
  const auto found = std::ranges::find(options, key, &OptionRow::key);
  return found == options.end() ? nullptr : &*found;
}

std::string CommandRow::words() const {
  auto text = verb;
  if (!family.empty()) text += " " + family;
  if (!name.empty()) text += " " + name;
  return text;
}

CommandTable::CommandTable(std::vector<CommandRow> rows) : rows_(std::move(rows)) {
  for (auto& row : rows_) {
    std::erase_if(row.options, [](const OptionRow& option) {
      return std::ranges::find(kKept, option.key) != kKept.end();
    });
  }
}

const CommandRow& CommandTable::find(const std::string& verb, const std::string& family,
                                     const std::string& name) const {
  check(has_verb(verb), ErrorKind::Usage, "[serve.job] unknown verb; got '{}'.{}",
        printable(verb, 40), hint(verb, verbs_of(rows_)));
  std::vector<std::string> families, names;
  for (const auto& row : rows_) {
    if (row.verb != verb) continue;
    families.push_back(row.family);
    if (row.family != family) continue;
    if (row.name == name) return row;
    names.push_back(row.name);
  }
  if (names.empty()) {
    fail(ErrorKind::Usage, "[serve.job] '{}' has no such family; got '{}', expected {}.{}",
         printable(verb, 40), printable(family, 40), join(families, ", "), hint(family, families));
  }
  fail(ErrorKind::Usage, "[serve.job] '{} {}' has no such command; got '{}', expected {}.{}",
       printable(verb, 40), printable(family, 40), printable(name, 40), join(names, ", "),
       hint(name, names));
}

bool CommandTable::has_verb(const std::string& verb) const {
  return std::ranges::find(rows_, verb, &CommandRow::verb) != rows_.end();
}

std::vector<std::string> CommandTable::families() const {
  std::vector<std::string> names;
  for (const auto& row : rows_) {
    const bool known = std::ranges::find(names, row.family) != names.end();
    if (!row.family.empty() && !known) names.push_back(row.family);
  }
  return names;
}

Json CommandTable::json() const {
  auto commands = Json::array();
  for (const auto& row : rows_) {
    auto options = Json::array();
    for (const auto& option : row.options) {
      options.push_back({{"flag", option.long_flag()},
                         {"key", option.key},
                         {"type", option.type},
                         {"help", option.help},
                         {"group", option.group},
                         {"reference", option.is_path()}});
    }
    commands.push_back({{"verb", row.verb},
                        {"family", row.family},
                        {"name", row.name},
                        {"summary", row.summary},
                        {"inputs", row.inputs},
                        {"needs_model", row.needs_model},
                        {"needs_device", row.needs_device},
                        {"options", std::move(options)}});
  }
  return {{"commands", std::move(commands)}};
}

}  // namespace ubique::serve
