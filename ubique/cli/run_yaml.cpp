// SPDX-License-Identifier: Apache-2.0
#include "ubique/cli/run_yaml.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "ubique/base/json.h"
#include "ubique/base/text.h"

namespace ubique::cli {
namespace {

std::string yaml_value(const std::string& text) {
  const bool list = text.starts_with('[') && text.ends_with(']');
  const bool plain = !text.empty() && text.find_first_of(":#{}\"'&*!|>%@`\n") == std::string::npos;
  if (list || (plain && text.front() != '-' && text.front() != ' ' && text.back() != ' ')) {
    return text;
  }
  return parse_number(text) ? text : Json(text).dump();
}

/// A setting, or a section of them in the order asked for.
struct YamlEntry {
  std::string name, text;  // text: "value  # source"
  std::vector<YamlEntry> inside = {};

  YamlEntry& child(const std::string& key) {
    for (auto& entry : inside) {
      if (entry.name == key) return entry;
    }
    return inside.emplace_back(YamlEntry{key, {}});
  }
};

/// Single settings first, then sections; a name that is both is a section.
std::string yaml_lines(const YamlEntry& section, std::size_t indent) {
  std::string settings, sections;
  for (const auto& entry : section.inside) {
    if (entry.inside.empty()) {
      settings += fmt::format("{:{}}{}: {}\n", "", indent, entry.name, entry.text);
    } else {
      sections +=
          fmt::format("{:{}}{}:\n{}", "", indent, entry.name, yaml_lines(entry, indent + 2));
    }
  }
  return settings + sections;
}

}  // namespace

std::string run_yaml(const std::vector<ResolvedValue>& values) {
  YamlEntry top;
  for (const auto& [key, value, source] : values) {
    // Never given: nothing to read back.
    if (source == "default" && (value.empty() || value == "null")) continue;
    auto* entry = &top;
    for (const auto& part : split(key, '.')) entry = &entry->child(part);
    entry->text = fmt::format("{}  # {}", yaml_value(value), source);
  }
  return "# Every setting of this run; ubique train FAMILY --config run.yaml repeats it.\n" +
         yaml_lines(top, 0);
}

}  // namespace ubique::cli
