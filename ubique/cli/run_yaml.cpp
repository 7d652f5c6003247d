// SPDX-License-Identifier: Apache-2.0
#include "ubique/cli/run_yaml.h"

#include <fmt/format.h>

#include <map>

#include "ubique/base/json.h"
#include "ubique/base/text.h"

namespace ubique::cli {
namespace {

/// Settings by section, in the order asked for; "" is the top level.
using Sections = std::vector<std::pair<std::string, std::string>>;

std::string yaml_value(const std::string& text) {
  const bool list = text.starts_with('[') && text.ends_with(']');
  const bool plain = !text.empty() && text.find_first_of(":#{}\"'&*!|>%@`\n") == std::string::npos;
  if (list || (plain && text.front() != '-' && text.front() != ' ' && text.back() != ' ')) {
    return text;
  }
  return parse_number(text) ? text : Json(text).dump();
}

std::string& section_of(Sections& sections, const std::string& name) {
  for (auto& [existing, text] : sections) {
    if (existing == name) return text;
  }
  return sections.emplace_back(name, "").second;
}

/// "a.b" under a: two blanks deeper for each level.
std::string heading(const std::string& section) {
  std::string text;
  std::size_t indent = 0;
  for (const auto& part : split(section, '.')) {
    text += fmt::format("{:{}}{}:\n", "", indent, part);
    indent += 2;
  }
  return text;
}

}  // namespace

std::string run_yaml(const std::vector<ResolvedValue>& values) {
  Sections sections = {{"", ""}};
  for (const auto& [key, value, source] : values) {
    if (value.empty() && source == "default") continue;  // never given: nothing to read back
    const auto dot = key.rfind('.');
    const auto section = dot == std::string::npos ? "" : key.substr(0, dot);
    const auto name = dot == std::string::npos ? key : key.substr(dot + 1);
    const auto indent = section.empty() ? 0 : 2 * split(section, '.').size();
    section_of(sections, section) +=
        fmt::format("{:{}}{}: {}  # {}\n", "", indent, name, yaml_value(value), source);
  }
  std::string text =
      "# Every setting of this run; ubique train FAMILY --config run.yaml repeats it.\n";
  for (const auto& [section, lines] : sections) text += heading(section) + lines;
  return text;
}

}  // namespace ubique::cli
